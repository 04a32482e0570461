#!/usr/bin/env bash
# check.sh OSHRUN PROGRAM PROFILE_LIBRARY: the profile of a preloaded library has the calls of the program.
set -u
oshrun=$1 program=$2 library=$3
output=$("$oshrun" -q -n 3 -x LD_PRELOAD="$library" "$program") || { echo "the program fails: $output"; exit 1; }
for pe in 0 1 2; do
  for line in "shmem_putmem: 1 calls, 24 bytes" "shmem_long_p: 5 calls, 40 bytes" "shmem_long_g: 1 calls, 8 bytes" \
    "shmem_barrier_all: 2 calls, 0 bytes"; do
    grep -q "^PE $pe: $line, [0-9]* ns$" <<<"$output" || { echo "no line \"PE $pe: $line\" in: $output"; exit 1; }
  done
done
[ "$(wc -l <<<"$output")" = 12 ] || { echo "more lines than expected: $output"; exit 1; }
