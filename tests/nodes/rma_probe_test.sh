#!/bin/sh
# A probe finds which operations of a network's RMA need the target's CPU, and these go by messages.
# rma_probe_test.sh <folder with oshrun> <program> <rma|reads|writes|none: what the strict provider leaves to the target>
set -u
oshrun=$1/oshrun
program=$2
software=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[ "$software" = none ] && software=
puts="without the target's CPU"
gets="without the target's CPU"
case $software in rma | writes) puts="by messages" ;; esac
case $software in rma | reads) gets="by messages" ;; esac

# Runs the program. Returns 1 if something else happened than expected, which $why tells.
try() {
  rm -f "$folder/log"
  why=$program
  SHMEM_DEBUG=1 SHMEMX_TRANSPORT=ofi SHMEMX_PES_PER_NODE=1 SHMEMX_TEST_PROVIDER_SOFTWARE=$software \
    SHMEMX_TEST_PROVIDER_LOG=$folder/log "$oshrun" -n 2 --timeout 150 "$program" >"$folder/out" 2>&1 ||
    { grep -q "the system forbids access to memory of others" "$folder/out" && cat "$folder/out" && exit 0; return 1; }
  why="the probe has found something else"
  grep -q "ofi: a probe at PE 1: puts go $puts, gets go $gets" "$folder/out" || return 1
  # The program puts more than 60 MiB. By messages these are read by their target; of RMA the probe's words are left.
  why="puts went another way: $(cat "$folder/log")"
  awk -v "puts=$puts" '
    { for (i = 1; i < NF; ++i) if ($i == "bytes_written") written += $(i + 1) }
    END { exit (puts == "by messages") ? written > 100000 : written < 60000000 }' "$folder/log"
}

# On a busy machine the PE that probes may not run while the target keeps still: the operation then goes by messages.
for _ in 1 2 3; do
  try && exit 0
done
printf 'failed: %s\n' "$why"
cat "$folder/out"
exit 1
