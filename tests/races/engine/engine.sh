#!/bin/sh
# Compiles report.c with the race detector in each way that is documented, and compares reports and status.
# Usage: engine.sh SOURCE_DIRECTORY BUILD_DIRECTORY
set -u
source=$1 build=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
  echo "engine.sh: $*" >&2
  failed=1
}

# expect STATUS PROGRAM ARGUMENT PATTERN...: runs on 2 PEs; each pattern stands in the lines.
expect() {
  expected=$1 program=$2 what=$3
  shift 3
  "$build/bin/oshrun" -q -n 2 "$program" "$what" >"$work/out" 2>&1
  status=$?
  [ "$status" = "$expected" ] || fail "$program $what ends with status $status, not $expected: $(cat "$work/out")"
  for pattern do
    grep -Eq -- "$pattern" "$work/out" || fail "$program $what does not say '$pattern': $(cat "$work/out")"
  done
}

expect_all() {
  expect 0 "$1" none
  ! grep -q 'data race' "$work/out" || fail "$1 reports a race where there is none"
  expect 66 "$1" static "^\[pe [01]/2 .*\] data race 16 bytes into 'words', of PE 1:" \
    'shmem_long_p \(stores\) by PE 0, 8 bytes at put_there \(report\.c:11\)' 'called at in_static_data \(report\.c:15\)' \
    'store by PE 1, 8 bytes at store_there \(report\.c:9\)' 'missing: shmem_quiet of PE 0 after its operation' \
    'the program has data races: 1 report by this PE'
  [ "$(grep -c 'data race ' "$work/out")" = 1 ] || fail "$1 reports one race more than once"
  expect 66 "$1" heap 'data race 8 bytes into a symmetric block of 32 bytes from shmem_malloc at in_heap \(report\.c:20\), of PE 1'
  expect 66 "$1" private 'data race in private memory of PE 0' 'shmem_long_get_nbi \(stores\) by PE 0, 8 bytes at in_private_memory' \
    'missing: shmem_quiet of PE 0 between them'
  expect 3 "$1" status 'data race 16 bytes into'
}

cd "$work" || exit 1
cp "$source/report.c" . || exit 1
options='-fshmem-races -g -O1 -fno-inline -fno-optimize-sibling-calls'
"$build/bin/oshcc" $options report.c -o one_step && expect_all ./one_step
"$build/bin/oshcc" $options -c report.c -o report.o && "$build/bin/oshcc" -fshmem-races report.o -o two_steps && expect_all ./two_steps
"$build/bin/oshc++" $options -x c++ -fpermissive -w report.c -o of_cxx && expect 66 ./of_cxx static 'data race 16 bytes into'
if command -v clang >/dev/null; then
  SHMEMX_CC=clang "$build/bin/oshcc" $options report.c -o by_clang && expect 66 ./by_clang static 'data race 16 bytes into'
fi
for program in one_step two_steps of_cxx; do
  [ -x "$program" ] || fail "$program was not built"
  ! ldd "$program" | grep -q libtsan || fail "$program needs libtsan"
done
"$build/bin/oshcc" -fshmem-races -static report.c -o no 2>err
[ $? = 2 ] && grep -q 'needs the shared library' err || fail "-static was not refused: $(cat err)"
# Nodes that are pretended: operations travel as messages, and the rules are the same.
SHMEMX_PES_PER_NODE=1 SHMEMX_TRANSPORT=tcp expect 66 ./one_step static 'data race 16 bytes into'
SHMEMX_PES_PER_NODE=1 SHMEMX_TRANSPORT=tcp expect 0 ./one_step none
exit $failed
