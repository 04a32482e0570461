#!/bin/sh
# Jobs under Slurm: a controller and two virtual nodes on this machine, with munge, all in the scratch directory. Needs
# PROBE, root, and the packages slurm-wlm and munge. With TUTORIAL, the page, and TUTORIAL_PROGRAMS, it runs the page's command, too.
. "$(dirname "$0")/../support/script.sh"
need munged slurmctld slurmd srun
[ "$(id -u)" = 0 ] || skip 'only root can run several slurmd on one machine'
chmod 755 "$dir"
daemons=
# Prints the steps, which outlive their slurmd: processes with the configuration of this test.
steps() {
  grep -lsz "^SLURM_CONF=$dir/slurm.conf\$" /proc/[0-9]*/environ 2>/dev/null | sed 's|/proc/||; s|/environ||' |
    while read -r pid; do grep -qs '^Name:.slurmstepd$' "/proc/$pid/status" && echo "$pid"; done
}
clean_up() {
  for _ in $(seq 50); do [ -z "$(steps)" ] && break; sleep 0.1; done
  for pid in $(steps); do kill -9 "$pid" 2>/dev/null; done
  for pid in $daemons; do kill "$pid" 2>/dev/null; done
  for pid in $daemons; do
    for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -9 "$pid" 2>/dev/null
  done
}
trap 'exit 1' INT TERM HUP
start() {  # NAME COMMAND...: starts a daemon that stays in the foreground, its output in log.NAME
  name=$1
  shift
  "$@" >"log.$name" 2>&1 </dev/null &
  daemons="$! $daemons"
}

configure() {
  mkdir munge state n0 n1 n0/tmp n1/tmp
  head -c 128 /dev/urandom >munge/key
  chmod 400 munge/key
  port=$((20000 + $$ % 5000 * 3))
  host=$(hostname)
  cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/%n
TmpFS=$dir/%n/tmp
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/%n.pid
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
KillWait=2
NodeName=n0 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=8 State=UNKNOWN
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=8 State=UNKNOWN
PartitionName=all Nodes=n0,n1 Default=YES State=UP OverSubscribe=FORCE
END
  export SLURM_CONF="$dir/slurm.conf"
}
start_all() {
  start munged munged --force --foreground --key-file="$dir/munge/key" --socket="$dir/munge/socket" \
    --pid-file="$dir/munge/pid" --log-file="$dir/munge/log" --seed-file="$dir/munge/seed"
  for _ in $(seq 50); do [ -S munge/socket ] && break; sleep 0.1; done
  [ -S munge/socket ] || skip "munged does not start: $(tail -n 1 log.munged)"
  start slurmctld slurmctld -D -f "$SLURM_CONF"
  start n0 slurmd -D -N n0 -f "$SLURM_CONF"
  start n1 slurmd -D -N n1 -f "$SLURM_CONF"
  for _ in $(seq 100); do
    [ "$(timeout 5 sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && return
    sleep 0.2
  done
  skip "Slurm's two nodes do not start here: $(tail -n 1 log.slurmctld)"
}

step() {  # OPTIONS... PROGRAM [ARGUMENT...]
  run 60 srun "$@"
  [ "$rc" = 0 ] || tail -n 30 log.* >&2
}
expect_hello() {  # INTERFACE NODES
  [ "$rc" = 0 ] || die "$1: status $rc"
  for pe in 0 1 2 3; do
    grep -q "^pe $pe of 4 via $1$" out || die "$1: pe $pe did not say hello"
    grep -q "^pe $pe on node [0-9] of $2, " out || die "$1: pe $pe does not see $2 nodes"
  done
}
four="-N 2 -n 4"
own_namespaces="unshare -n -p --fork --mount-proc --kill-child"

configure
start_all
step --mpi=pmi2 $four "$PROBE" attach hello nodes finalize
expect_hello pmi1 1
step --mpi=pmi2 --export=ALL,PMI_VERSION=2 $four "$PROBE" attach hello nodes finalize
expect_hello pmi2 1
if $own_namespaces true 2>/dev/null; then
  for version in 1 2; do
    step --mpi=pmi2 --export=ALL,PMI_VERSION=$version $four $own_namespaces "$PROBE" attach hello nodes exchange 32768 finalize
    expect_hello pmi$version 4
    [ "$(grep -c 'exchange right' out)" = 4 ] || die "PMI-$version: what was exchanged: wrong data"
  done
fi
if srun --mpi=list 2>&1 | grep -q pmix && [ "${HAVE_PMIX:-0}" = 1 ]; then
  step --mpi=pmix $four "$PROBE" attach hello nodes finalize
  expect_hello pmix 1
fi
if [ -n "${TUTORIAL:-}" ]; then  # the command of the page, in the folder with its programs
  line=$(sed -n 's/^srun \(.*10_hosts\)$/\1/p' "$TUTORIAL")
  [ -n "$line" ] || die 'the tutorial has no line of srun'
  (cd "$TUTORIAL_PROGRAMS" && timeout 60 srun $line >"$dir/out" 2>"$dir/err") || die "'srun $line' failed"
  [ "$(grep -c '^PE [0-7] shares memory with 8 of 8 PEs; 8 PEs have been here$' out)" = 8 ] || die "'srun $line' printed something else"
fi
step --mpi=pmi2 $four "$PROBE" attach @1 abort 9 wait shmem_barrier_all
[ "$rc" != 0 ] && [ "$rc" != 124 ] || die "an aborted job ended with status $rc"
step --mpi=none -N 1 -n 4 "$PROBE" attach hello nodes finalize
expect_hello slurm 1
step --mpi=none -N 1 -n 4 "$PROBE" attach @1 abort 9 wait shmem_barrier_all
[ "$rc" != 0 ] && [ "$rc" != 124 ] || die "without an interface, an aborted job ended with status $rc"
step --mpi=none $four "$PROBE" attach hello
[ "$rc" = 77 ] || die "without an interface: status $rc"
grep -q "started by Slurm's srun (SLURM_STEP_NUM_TASKS=4), but none of its start-up interfaces answers" err ||
  die 'without an interface on two nodes: no message'
exit 0
