#!/bin/sh
# limits_test.sh CASE: jobs under the limits of the system. They work, or one line names the request, the limit, its
# value, and what to change. They never end by a signal, and never hang.
. "$(dirname "$0")/common.sh"

limited() {  # PRLIMIT-OPTION LIMIT-IN-SECONDS COMMAND...
  need prlimit
  option=$1
  shift
  prlimit "$option" true 2>/dev/null || skip "prlimit $option is refused"
  seconds=$1
  shift
  run "$seconds" prlimit "$option" "$@"
}

case_address_space() {
  for bytes in 1000000000 4000000000 60000000000; do
    limited --as=$bytes 20 "$OSHRUN" -n 4 --timeout 15 "$pe" work
    expect_ok "address space of $bytes bytes, default heap"
  done
  SHMEM_SYMMETRIC_SIZE=8G limited --as=4000000000 20 "$OSHRUN" -n 4 --timeout 15 "$pe" work
  expect_refusal 'address space of 4 GB, heap of 8 GiB' 'SHMEM_SYMMETRIC_SIZE' '8589934592' 'ulimit -v'
  SHMEM_SYMMETRIC_SIZE=8M limited --as=2000000000 20 "$OSHRUN" -n 4 --timeout 15 "$pe" fill 1000000 100
  expect_ok 'address space of 2 GB, heap of 8 MiB'
  for megabytes in 20 30 40 60 80; do
    limited --as=$((megabytes * 1000000)) 20 "$OSHRUN" -n 2 --timeout 15 "$pe" work
    expect_no_crash_or_no_start "address space of $megabytes MB"
  done
}
# One PE has a lower limit than the others: all use the size that it can map.
case_uneven() {
  cat >less.sh <<'END'
[ "$SHMEMX_JOB_PE" != 1 ] || ulimit "$1" "$2"
shift 2
exec "$@"
END
  run 20 "$OSHRUN" -n 3 --timeout 15 sh less.sh -v 2000000 "$pe" work
  expect_ok 'PE 1 has 2 GB of address space'
  SHMEM_SYMMETRIC_SIZE=8G run 20 "$OSHRUN" -n 3 --timeout 15 sh less.sh -v 2000000 "$pe" work
  expect_refusal 'PE 1 has 2 GB of address space, heap of 8 GiB' 'SHMEM_SYMMETRIC_SIZE' '8589934592'
  run 20 "$OSHRUN" -n 3 --timeout 15 sh less.sh -f 100 "$pe" work
  expect_refusal 'PE 1 has files of 50 KiB at most' 'ulimit -f'
  run 20 "$OSHRUN" -n 3 --timeout 15 sh less.sh -n 10 "$pe" work
  expect_ok 'PE 1 has 10 open files'
  echo 'shmem_init_thread returns an error with SHMEM_INIT_ERRORS=return'
  for policy in abort return; do
    SHMEM_INIT_ERRORS=$policy SHMEM_SYMMETRIC_SIZE=99999T run 20 "$OSHRUN" -n 2 --timeout 15 "$pe" init_thread
    [ $policy = abort ] && expect_refusal 'heap too large, abort' 'SHMEM_SYMMETRIC_SIZE'
    [ $policy = abort ] || [ "$rc" = 21 ] || die "heap too large, return: status $rc"
  done
}

# With so little memory the loader or oshrun may fail: with a message, not by a signal.
expect_no_crash_or_no_start() {
  [ "$rc" = 0 ] || expect_no_crash "$1"
  [ "$rc" = 0 ] || [ -s err ] || die "$1: failed without a message"
  echo "$1: status $rc, $(head -n 1 err)"
}

# Heap sizes up to more than any machine has.
case_heap_size() {
  for size in 1 4k 1M 64M 1G 1T 30T; do
    SHMEM_SYMMETRIC_SIZE=$size run 20 "$OSHRUN" -n 2 --timeout 15 "$pe" fill 10000 3
    expect_ok "SHMEM_SYMMETRIC_SIZE=$size"
  done
  for size in 100T 8000T 16777215T 99999999999T; do
    SHMEM_SYMMETRIC_SIZE=$size run 20 "$OSHRUN" -n 2 --timeout 15 "$pe" fill 10000 3
    expect_refusal "SHMEM_SYMMETRIC_SIZE=$size" 'SHMEM_SYMMETRIC_SIZE'
    echo "SHMEM_SYMMETRIC_SIZE=$size: $(head -n 1 err)"
  done
}

# Requests that do not fit return NULL, with a reason in the log, and the job continues.
case_exhausted() {
  SHMEM_DEBUG=1 SHMEM_SYMMETRIC_SIZE=4M run 20 "$OSHRUN" -n 3 --timeout 15 "$pe" fill 1000000 100
  expect_ok 'heap of 4 MiB'
  grep -q '^ok fill 4 blocks' out || die 'not four blocks of a million bytes in 4 MiB'
  grep -q 'shmem_malloc: no room for 1000000 bytes.*largest free.*SHMEM_SYMMETRIC_SIZE' err || die 'no reason with SHMEM_DEBUG'
  SHMEM_SYMMETRIC_SIZE=1T SHMEM_DEBUG=1 run 20 "$OSHRUN" -n 2 --timeout 15 "$pe" fill 900000000000 1
  expect_ok 'one block of 900 GB'
  grep -q '^ok fill 0 blocks' out || die 'a block larger than the memory was allocated'
  grep -q "machine's.*memory" err || die 'no reason with SHMEM_DEBUG'
}

case_file_size() {
  for kib in 0 1 100 100000; do
    limited --fsize=$((kib * 1024)) 20 "$OSHRUN" -n 2 --timeout 15 "$pe" work
    expect_refusal "file size of $kib KiB" 'ulimit -f|RLIMIT_FSIZE' '[0-9]'
    echo "file size of $kib KiB: $(head -n 1 err)"
  done
  SHMEM_SYMMETRIC_SIZE=1M limited --fsize=1000000000 20 "$OSHRUN" -n 2 --timeout 15 "$pe" work
  expect_ok 'file size of 1 GB, heap of 1 MiB'
}

case_open_files() {
  for files in 4 5 6 7 8 12 16; do
    limited --nofile=$files 20 "$OSHRUN" -n 2 --timeout 15 "$pe" work
    expect_ok_or_refusal "$files open files" 'open files|too many|descriptor|shared librar'
  done
  limited --nofile=16 20 "$OSHRUN" -n 8 --tag-output --timeout 15 "$pe" work
  expect_ok_or_refusal '16 open files, tagged output of 8 PEs' 'open files|too many|descriptor'
}

# The limit counts all processes of a user, so the test uses an otherwise unused one.
case_processes() {
  need setpriv prlimit
  user=$((64000 + $$ % 1000))
  [ "$(id -u)" = 0 ] || skip 'only root can take another user number'
  chmod 755 "$dir"
  setpriv --reuid $user --regid $user --clear-groups "$OSHRUN" --version >/dev/null 2>&1 || skip 'another user cannot run oshrun here'
  for processes in 1 2 3 5; do
    run 20 setpriv --reuid $user --regid $user --clear-groups prlimit --nproc=$processes "$OSHRUN" -n 8 --timeout 15 "$pe" work
    expect_refusal "$processes processes" 'cannot|start' 'Resource temporarily unavailable|process'
    echo "$processes processes: $(head -n 1 err)"
  done
  run 20 setpriv --reuid $user --regid $user --clear-groups prlimit --nproc=20 "$OSHRUN" -n 8 --timeout 15 "$pe" work
  expect_ok '20 processes'
}

# A program that has locked all future mappings, as a user with little to lock.
case_locked_memory() {
  need setpriv prlimit
  user=65500
  [ "$(id -u)" = 0 ] || skip 'only root can take another user number'
  chmod 755 "$dir"
  cat >locks.c <<'END'
#include <shmem.h>
#include <stdio.h>
#include <sys/mman.h>
int main(void) {
  if (mlockall(MCL_FUTURE) != 0) return 77;
  shmem_init();
  long *word = shmem_malloc(1 << 20);
  shmem_barrier_all();
  if (word != NULL && shmem_my_pe() == 0) puts("ok locked");
  shmem_finalize();
  return word == NULL;
}
END
  "$OSHCC" -o locks locks.c || die 'cannot compile'
  as_user() { kib=$1; shift; run 30 setpriv --reuid $user --regid $user --clear-groups prlimit --memlock=$((kib * 1024)) "$@"; }
  setpriv --reuid $user --regid $user --clear-groups "$OSHRUN" --version >/dev/null 2>&1 || skip 'another user cannot run oshrun here'
  as_user 1024 "$OSHRUN" -n 2 --timeout 20 ./locks
  [ "$rc" != 77 ] || skip 'this user may not lock memory'
  expect_ok '1 MiB of locked memory'
  [ "$(grep -c 'symmetric memory stays unlocked: the limit on locked memory (ulimit -l) is 1048576 bytes' err)" = 1 ] || die 'not one line'
  as_user 64 "$OSHRUN" -n 2 --timeout 20 ./locks
  expect_refusal '64 KiB of locked memory' 'limit on locked memory .ulimit -l, RLIMIT_MEMLOCK. is 65536 bytes'
  export SHMEMX_PES_PER_NODE=1
  as_user 256 "$OSHRUN" -n 2 --timeout 20 ./locks
  expect_refusal '256 KiB of locked memory, nodes' 'ulimit -l'
  for transport in ucx ofi; do
    [ -e "$(dirname "$LIBRARY")/libshmemx_$transport.so" ] || continue
    SHMEMX_TRANSPORT=$transport as_user 8192 "$OSHRUN" -n 2 --timeout 20 ./locks
    expect_refusal "8 MiB of locked memory, $transport" 'limit on locked memory .ulimit -l. is 8388608 bytes'
  done
}

case_other_limits() {
  for option in --core=0 --data=200000000 --stack=300000 --memlock=0 --sigpending=0 --msgqueue=0 --rtprio=0 --nice=0; do
    limited $option 20 "$OSHRUN" -n 3 --timeout 15 "$pe" work
    expect_ok "prlimit $option"
  done
  limited --data=1000000 20 "$OSHRUN" -n 3 --timeout 15 "$pe" work
  expect_no_crash_or_no_start 'data segment of 1 MB'
}

# Creates a control group with a limit on memory.
make_group() {  # BYTES
  if [ -w /sys/fs/cgroup/cgroup.procs ] && grep -qw memory /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null; then
    group=/sys/fs/cgroup/shmemx-robust-$$
    limit_file=memory.max
  elif [ -w /sys/fs/cgroup/memory/cgroup.procs ]; then
    group=/sys/fs/cgroup/memory/shmemx-robust-$$
    limit_file=memory.limit_in_bytes
  else
    skip 'no control group for memory that this user may change'
  fi
  mkdir "$group" 2>/dev/null || skip 'no control group can be created'
  clean_up() { rmdir "$group"; }
  echo "$1" >"$group/$limit_file" || skip 'no memory limit can be set'
}
case_control_group() {
  make_group 400000000
  run 60 sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$group" env SHMEM_DEBUG=1 \
    "$OSHRUN" -n 2 --timeout 50 "$pe" fill 20000000 100
  expect_ok 'control group of 400 MB'
  grep -Eq "no room for 20000000 bytes: the control group's memory limit.*raise it" err || die 'no reason with SHMEM_DEBUG'
  blocks=$(sed -n 's/^ok fill \([0-9]*\) .*/\1/p' out)
  [ "$blocks" -ge 2 ] || die "only $blocks blocks of 20 MB for each of 2 PEs in 400 MB"
  echo "control group of 400 MB: $blocks blocks of 20 MB for each of 2 PEs"
}

# Only read, since the setting applies to the whole machine.
case_overcommit() {
  mode=$(cat /proc/sys/vm/overcommit_memory 2>/dev/null) || skip 'no /proc/sys/vm/overcommit_memory'
  [ "$mode" = 2 ] || skip "overcommit_memory is $mode and is not changed for a test"
  run 20 "$OSHRUN" -n 2 --timeout 15 "$pe" work
  expect_ok_or_refusal 'overcommit_memory=2' 'overcommit_memory' 'SHMEM_SYMMETRIC_SIZE'
}

# A core dump holds the allocated blocks of the heap, but not its unused rest.
case_core_dump() {
  pattern=$(cat /proc/sys/kernel/core_pattern 2>/dev/null) || skip 'no /proc/sys/kernel/core_pattern'
  case $pattern in
    '|'* | */*) skip "core dumps go to '$pattern'" ;;
  esac
  (ulimit -c unlimited) 2>/dev/null || skip 'core dumps are not allowed'
  SHMEM_SYMMETRIC_SIZE=1G run 60 sh -c 'ulimit -c unlimited; exec "$@"' sh "$OSHRUN" -n 3 --timeout 50 "$pe" crash
  grep -q 'died of signal 6' err || die 'PE 0 did not crash'
  core=$(ls core* 2>/dev/null | head -n 1)
  [ -n "$core" ] || skip 'no core dump was written'
  bytes=$(stat -c %s "$core")
  echo "heaps of 1 GiB, 1 MiB of it allocated: core dump of $bytes bytes"
  [ "$bytes" -lt 50000000 ] || die "a core dump of $bytes bytes"
  command -v gdb >/dev/null 2>&1 || return 0
  gdb -nx -batch -ex 'print (*(long **)&crash_words)[7]' -ex 'print *(long *)&counter' "$pe" "$core" >gdb.out 2>&1
  grep -q '= 4718$' gdb.out && grep -q '= 99$' gdb.out || die "the debugger finds no values: $(cat gdb.out)"
}

run_case "$@"
