#!/bin/sh
# machine_test.sh CASE: jobs on machines with missing or unusual features.
. "$(dirname "$0")/common.sh"

# A container's default /dev/shm, and a read-only one, with heaps that do not fit there.
case_small_shm() {
  need unshare
  may_unshare --mount || skip 'a mount namespace is not allowed'
  cat >inside <<'END'
mount -t tmpfs -o size=64m shmemx-robust /dev/shm && exec "$@"
END
  SHMEM_SYMMETRIC_SIZE=256M run 60 unshare --mount sh inside "$OSHRUN" -n 2 --timeout 50 "$pe" fill 100000000 2
  expect_ok '64 MiB of /dev/shm, 256 MiB of heap'
  grep -q '^ok fill 2 blocks' out || die 'two blocks of 100 MB fit into a heap of 256 MiB'
  sed -i 's/size=64m/size=4k,ro/' inside
  SHMEM_SYMMETRIC_SIZE=256M run 60 unshare --mount sh inside "$OSHRUN" -n 3 --timeout 50 "$pe" work
  expect_ok 'read-only /dev/shm'
}

# A filter of system calls forbids memfd_create: an unnamed file replaces it.
case_no_memfd() {
  "$FORBID" memfd_create true || skip 'no filter of system calls can be set here'
  for path in direct queue; do
    SHMEMX_NODE_PATH=$path run 30 "$FORBID" memfd_create "$OSHRUN" -n 3 --timeout 20 "$pe" work
    expect_ok "memfd_create is forbidden, $path"
  done
  run 30 "$FORBID" memfd_create "$pe" work
  expect_ok 'memfd_create is forbidden, without oshrun'
  SHMEM_DEBUG=1 run 30 "$FORBID" memfd_create "$OSHRUN" -n 2 --timeout 20 "$pe" work
  grep -q 'memfd_create is refused: .* lies in a file without a name in /' err || die 'SHMEM_DEBUG does not say where the memory lies'
  if command -v mpiexec.hydra >/dev/null 2>&1; then
    run 30 "$FORBID" memfd_create mpiexec.hydra -n 3 "$pe" work
    expect_ok 'memfd_create is forbidden, hydra'
  fi
}

# The same with little memory: no process is killed because a page cannot be allocated.
case_no_memfd_little_room() {
  need unshare
  "$FORBID" memfd_create true || skip 'no filter of system calls can be set here'
  may_unshare --mount || skip 'a mount namespace is not allowed'
  cat >inside <<'END'
mount -t tmpfs -o size=$SIZE shmemx-robust /dev/shm && exec "$@"
END
  SIZE=64m SHMEM_DEBUG=1 run 30 "$FORBID" memfd_create unshare --mount sh inside "$OSHRUN" -n 2 --timeout 20 "$pe" fill 10000000 20
  expect_ok '64 MiB of /dev/shm instead of a memfd'
  grep -q 'no room for 10000000 bytes: the file system of /dev/shm.*allow memfd_create' err || die 'the limit is not named'
  blocks=$(sed -n 's/^ok fill \([0-9]*\) .*/\1/p' out)
  [ "$blocks" -ge 1 ] || die "$blocks blocks of 10 MB for each of 2 PEs in 64 MiB"
  SIZE=1m TMPDIR=$dir run 30 "$FORBID" memfd_create unshare --mount sh inside "$OSHRUN" -n 2 --timeout 20 "$pe" work
  expect_ok 'a file in TMPDIR instead of a memfd'
  case $PES:$OSHRUN:$FORBID in */tmp/*) return 0 ;; esac
  sed 's/exec/mount -t tmpfs -o size=1m shmemx-robust \/tmp \&\& exec/' inside >both
  SIZE=1m TMPDIR=/nonexistent run 30 "$FORBID" memfd_create unshare --mount sh both "$OSHRUN" -n 2 --timeout 20 "$pe" work
  expect_refusal 'no room anywhere' 'memfd_create is refused.*/dev/shm \(.*/tmp \(' 'allow memfd_create.*or mount a tmpfs'
}

case_network() {
  need unshare
  may_unshare --net || skip 'a network namespace is not allowed'
  run 30 unshare --net "$OSHRUN" -n 4 --timeout 20 "$pe" work
  expect_ok 'lo is down'
  if command -v ip >/dev/null 2>&1; then
    run 30 unshare --net sh -c 'ip link set lo up && exec "$@"' sh "$OSHRUN" -n 4 --timeout 20 "$pe" work
    expect_ok 'lo alone is up'
  fi
}

# Pretended nodes are on one machine: other machines cannot connect to the sockets on which UCX listens.
case_ucx_listens() {
  [ -e "$(dirname "$LIBRARY")/libshmemx_ucx.so" ] || skip 'the plug-in for UCX is not built'
  SHMEMX_PES_PER_NODE=1 SHMEMX_TRANSPORT=ucx "$OSHRUN" -n 2 --timeout 20 "$pe" for_ever wait >out 2>err </dev/null &
  job=$!
  wait_for out "^ready" 2
  : >listening
  for pid in $(sed -n 's/^ready [0-9]* //p' out); do
    for fd in /proc/"$pid"/fd/*; do readlink "$fd"; done | sed -n 's/^socket:\[\(.*\)\]$/\1/p' >inodes
    awk '$4 == "0A" { print $2, $10 }' /proc/"$pid"/net/tcp /proc/"$pid"/net/tcp6 | grep -wFf inodes >>listening
  done
  kill $job
  wait $job
  [ "$(wc -l <listening)" -ge 2 ] || die "UCX does not listen: $(cat listening)"
  grep -v '^0100007F:' listening && die 'UCX listens where other machines can connect'
  return 0
}

# No file system is writable.
case_read_only() {
  need unshare
  may_unshare --mount || skip 'a mount namespace is not allowed'
  case $PES:$OSHRUN in
    */tmp/* | */run/*) skip 'the programs lie in a folder that the test covers' ;;
  esac
  cat >inside <<'END'
mount -o remount,ro,bind / 2>/dev/null || exit 77
for place in /tmp /var/tmp /dev/shm /run; do mount -t tmpfs -o ro shmemx-robust $place 2>/dev/null; done
for place in / /tmp /var/tmp /dev/shm /run; do touch $place/shmemx-robust 2>/dev/null && exit 77; done
exec "$@"
END
  run 30 unshare --mount sh inside "$OSHRUN" -n 4 --timeout 20 "$pe" work
  [ "$rc" != 77 ] || skip 'the file systems cannot be made read-only here'
  expect_ok 'nothing can be written to'
}

case_no_proc() {
  need unshare
  may_unshare --mount || skip 'a mount namespace is not allowed'
  run 30 unshare --mount sh -c 'mount -t tmpfs shmemx-robust /proc && exec "$@"' sh "$OSHRUN" -n 4 --timeout 20 "$pe" work
  expect_ok 'no /proc'
  run 30 unshare --mount sh -c 'mount -t tmpfs shmemx-robust /sys && exec "$@"' sh "$OSHRUN" -n 4 --timeout 20 "$pe" work
  expect_ok 'no /sys'
}

case_other_user() {
  need setpriv
  [ "$(id -u)" = 0 ] || skip 'only root can take another user number'
  chmod 755 "$dir"
  as="setpriv --reuid 65501 --regid 65501 --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all"
  $as "$OSHRUN" --version >/dev/null 2>&1 || skip 'another user cannot run oshrun here'
  run 30 $as "$OSHRUN" -n 4 --timeout 20 "$pe" work
  expect_ok 'another user'
  run 30 "$OSHRUN" -n 4 --timeout 20 $as "$pe" work
  expect_ok 'root starts PEs of another user'
}

# A new pid namespace: process numbers differ from those outside.
case_pid_namespace() {
  need unshare
  may_unshare --pid --fork --mount-proc || skip 'a pid namespace is not allowed'
  run 30 unshare --pid --fork --mount-proc "$OSHRUN" -n 4 --timeout 20 "$pe" work
  expect_ok 'oshrun is process 1'
}

case_standard_files() {
  for closed in '<&-' '>&-' '2>&-' '<&- >&-' '<&- 2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
    run 30 sh -c "\"\$@\" $closed" sh "$OSHRUN" -n 3 --timeout 20 "$pe" work
    [ "$rc" = 0 ] || die "closed: $closed"
    run 30 "$OSHRUN" -n 3 --timeout 20 sh -c "exec \"\$@\" $closed" sh "$pe" work
    [ "$rc" = 0 ] || die "closed in the PEs: $closed"
  done
  [ -c /dev/full ] || return 0
  run 30 sh -c '"$@" >/dev/full 2>/dev/full' sh "$OSHRUN" -n 3 --timeout 20 "$pe" work
  [ "$rc" = 0 ] || die 'output to a full device'
}

case_environment() {
  run 30 env -i "$OSHRUN" -n 3 --timeout 20 "$pe" work
  expect_ok 'empty environment'
  run 30 env -i "$pe" work
  expect_ok 'empty environment, without oshrun'
  run 30 "$OSHRUN" -n 3 --timeout 20 env LC_ALL=xx_YY LANG=tr_TR.UTF-8 TMPDIR=/nonexistent HOME= PATH= "$pe" work
  expect_ok 'odd environment'
  long=$(head -c 100000 /dev/zero | tr '\0' x)
  LONG=$long run 30 "$OSHRUN" -n 3 --timeout 20 "$pe" work
  expect_ok 'a variable of 100 kB'
}

case_deleted_directory() {
  mkdir gone
  run 30 sh -c 'cd gone && rmdir ../gone && exec "$@"' sh "$OSHRUN" -n 3 --timeout 20 "$pe" work
  expect_ok 'the working directory is gone'
}

# The program is replaced while its PEs start.
case_deleted_program() {
  cp "$pe" program
  run 30 "$OSHRUN" -n 4 --timeout 20 sh -c 'exec 9<./program && rm -f ./program && exec /proc/self/fd/9 work' sh
  [ "$rc" != 0 ] || expect_ok 'deleted program'
  expect_no_crash 'deleted program'
}

case_many_descriptors() {
  cat >opens.sh <<'END'
i=3
while [ $i -lt 10 ]; do eval "exec $i</dev/null"; i=$((i + 1)); done
exec "$@"
END
  run 30 sh opens.sh "$OSHRUN" -n 3 --timeout 20 "$pe" work
  expect_ok 'descriptors 3 to 9 are taken'
}

case_ignored_signals() {
  run 30 sh -c 'trap "" HUP INT QUIT PIPE ALRM TERM CHLD USR1 USR2; exec "$@"' sh "$OSHRUN" -n 3 --timeout 20 "$pe" work
  expect_ok 'all signals are ignored'
  run 30 "$OSHRUN" -n 3 --timeout 20 sh -c 'trap "" HUP INT QUIT PIPE ALRM TERM CHLD USR1 USR2; exec "$@"' sh "$pe" work
  expect_ok 'PEs ignore all signals'
}

# Variables of a launcher without the launcher: an error that names it, not n jobs of one PE.
case_faked_launchers() {
  for set in 'PMI_SIZE=4 PMI_RANK=1' 'PMI_SIZE=4 PMI_RANK=1 PMI_FD=9' 'PMI_SIZE=4 PMI_RANK=0 PMI_FD=x' \
      'PMIX_RANK=1 PMIX_NAMESPACE=job' 'PMIX_RANK=1' 'PMIX_RANK=0 PMIX_NAMESPACE=job PMIX_SERVER_URI2=nobody;tcp4://127.0.0.1:9' \
      'OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=0' 'SLURM_NTASKS=4 SLURM_PROCID=2 SLURM_STEP_ID=0' \
      'SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=2 SLURM_STEP_ID=0' 'MPI_LOCALNRANKS=2 MPI_LOCALRANKID=0' 'FLUX_JOB_SIZE=2 FLUX_TASK_RANK=1'; do
    run 20 env $set "$pe" work
    expect_refusal "$set" 'started by .*(hydra|PMI|mpirun|Slurm|Flux).*Tried' 'oshrun -n'
    [ -s out ] && die "$set: it ran"
  done
  for set in 'PMI_SIZE=1 PMI_RANK=0' 'SLURM_NTASKS=1' 'SLURM_NTASKS=1 SLURM_PROCID=0 SLURM_STEP_ID=0' \
      'OMPI_COMM_WORLD_SIZE=1' 'FLUX_JOB_SIZE=1'; do
    run 20 env $set "$pe" work
    expect_ok "$set"
    [ -s err ] && die "$set: a singleton is silent"
  done
  # The shell of an allocation, which is one process: the program runs, and prints a warning.
  run 20 env -u SLURM_STEP_NUM_TASKS -u SLURM_PROCID SLURM_NTASKS=4 "$pe" work
  expect_ok 'SLURM_NTASKS=4 without a step'
  grep -q 'warning: SLURM_NTASKS is 4, but no launcher started this process: it is a job of one PE; ' err ||
    die 'SLURM_NTASKS=4 without a step: no line'
  [ "$(wc -l <err)" = 1 ] || die 'SLURM_NTASKS=4 without a step: more than one line'
  run 20 env SLURM_NTASKS=4 "$OSHRUN" -n 2 --timeout 15 "$pe" work
  expect_ok 'oshrun in the shell of an allocation'
  [ -s err ] && die 'oshrun in the shell of an allocation is silent'
  for set in SHMEMX_JOB_FD=0 SHMEMX_JOB_PE=1 'SHMEMX_JOB_FD=1 SHMEMX_JOB_PE=0 SHMEMX_JOB_SIZE=2 SHMEMX_JOB_ID=1' \
      'SHMEMX_JOB_FD=99 SHMEMX_JOB_PE=0 SHMEMX_JOB_SIZE=2 SHMEMX_JOB_ID=1'; do
    run 20 env $set "$pe" work
    expect_refusal "$set" 'SHMEMX_JOB_. variables are set, but not by an oshrun'
  done
  for set in 'PMI_SIZE=4 PMI_RANK=1 PMI_FD=9' 'OMPI_COMM_WORLD_SIZE=3' 'SLURM_NTASKS=4 SLURM_PROCID=2 SLURM_STEP_ID=0'; do
    run 20 env $set "$OSHRUN" -n 2 --timeout 15 "$pe" work
    expect_ok "oshrun inside a job of another launcher, $set"
  done
}

# Wrappers that start the program with closed descriptors. Those of oshrun are found in the processes above; otherwise one
# line says what helps.
case_closed_descriptors() {
  need python3
  cat >wrapper.py <<'END'
import subprocess, sys
sys.exit(subprocess.run(sys.argv[1:]).returncode)
END
  for n in 1 3; do
    run 30 "$OSHRUN" -n $n --timeout 20 python3 wrapper.py "$pe" work
    expect_ok "$n PEs in wrappers that close descriptors"
  done
  run 30 "$OSHRUN" -n 2 --timeout 20 python3 wrapper.py python3 wrapper.py "$pe" work
  expect_ok 'two wrappers'
  cat >orphan.py <<'END'
import os, subprocess, sys, time
program = subprocess.Popen(["setsid", "sh", "-c", "(sleep 1; exec \"$@\") & sleep 0.1", "sh"] + sys.argv[1:])
os.close(int(os.environ["SHMEMX_JOB_FD"]))
time.sleep(2)
END
  run 30 "$OSHRUN" -n 1 --timeout 8 python3 orphan.py "$pe" work
  [ "$(grep -c 'descriptor [0-9]* is not open, nor in a process above this one; .*close_fds=False' err)" = 1 ] || die 'not one line'
  command -v mpiexec.hydra >/dev/null 2>&1 || return 0
  run 30 mpiexec.hydra -n 2 python3 wrapper.py "$pe" work
  [ "$rc" = 0 ] || cat out >>err
  expect_ok_or_refusal 'a wrapper under Hydra' 'PMI_FD is closed: .*close_fds=False'
  # Nothing above has it open.
  run 30 env PMI_FD=77 PMI_RANK=0 PMI_SIZE=2 "$pe" work
  expect_refusal 'PMI_FD is closed' 'PMI_FD is closed: .*close_fds=False'
}

# The longest name that the kernel allows: UCX ends processes there.
case_long_host_name() {
  need unshare hostname
  may_unshare --uts || skip 'a UTS namespace is not allowed'
  name=$(printf 'h%.0s' $(seq 64))
  for transport in tcp ofi ucx; do
    [ $transport = tcp ] || [ -e "$(dirname "$LIBRARY")/libshmemx_$transport.so" ] || continue
    SHMEMX_PES_PER_NODE=1 SHMEMX_TRANSPORT=$transport run 30 unshare --uts sh -c "hostname $name && exec \"\$@\"" sh \
      "$OSHRUN" -n 2 --timeout 20 "$pe" work
    if [ $transport = ucx ]; then
      expect_refusal 'a host name of 64 characters over ucx' "ucx \\(its library ends the process on a host whose name has more than 63 characters"
    else
      expect_ok "a host name of 64 characters over $transport"
    fi
  done
}

case_no_getrandom() {
  "$FORBID" getrandom true || skip 'no filter of system calls can be set here'
  run 30 "$FORBID" getrandom "$OSHRUN" -n 3 --timeout 20 "$pe" work
  expect_ok 'getrandom is forbidden'
  SHMEMX_PES_PER_NODE=1 SHMEMX_TRANSPORT=tcp run 30 "$FORBID" getrandom "$OSHRUN" -n 3 --timeout 20 "$pe" work
  expect_ok 'getrandom is forbidden, tcp'
  need unshare
  may_unshare --mount || skip 'a mount namespace is not allowed'
  mkdir empty
  SHMEMX_PES_PER_NODE=1 SHMEMX_TRANSPORT=tcp run 30 "$FORBID" getrandom unshare --mount sh -c \
    'mount --bind /dev/null /dev/urandom && exec "$@"' sh "$OSHRUN" -n 2 --timeout 20 "$pe" work
  expect_refusal 'getrandom and /dev/urandom are refused' 'networks need unpredictable numbers, and both getrandom and /dev/urandom are refused'
}

# The reason is printed although the launcher ends all PEs at once.
case_reason_under_hydra() {
  need mpiexec.hydra
  for turn in 1 2 3 4 5 6 7 8; do
    SHMEM_SYMMETRIC_SIZE=99999T run 30 mpiexec.hydra -n 2 "$pe" work
    [ "$rc" != 0 ] || die 'a heap of 99999 TiB'
    cat out err | grep -q 'shmem_init: SHMEM_SYMMETRIC_SIZE .* bytes' || die "turn $turn: no reason was printed"
  done
}

run_case "$@"
