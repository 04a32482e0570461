#!/bin/sh
# waiting_test.sh CASE: PEs that wait on busy and on idle machines, and PEs that are stopped or killed while they wait.
. "$(dirname "$0")/common.sh"

# Blocked PEs sleep. On an idle machine they use at most 5 % of a core; the bound here allows for a busy one.
case_idle() {
  for where in wait barrier lock signal; do
    run 30 "$OSHRUN" -n 4 --timeout 25 "$pe" blocked $where 3
    expect_ok "blocked in $where"
    echo "auto: $(sed 's/^ok //' out)"
    share=$(sed -n 's/^ok blocked [a-z]* \([0-9]*\).*/\1/p' out)
    [ "$share" -lt 20 ] || die "a PE blocked in $where uses $share % of a core"
  done
}

case_policies() {
  for policy in spin auto block; do
    for where in wait barrier lock signal; do
      SHMEM_WAIT=$policy run 40 "$OSHRUN" -n 2 --timeout 35 "$pe" blocked $where 0.5
      expect_ok "SHMEM_WAIT=$policy, blocked in $where"
      echo "$policy: $(sed 's/^ok //' out)"
    done
    SHMEM_WAIT=$policy run 100 "$OSHRUN" -n 2 --timeout 90 "$pe" work 5
    expect_ok "SHMEM_WAIT=$policy"
  done
}

case_one_core() {
  need taskset
  taskset -c 0 true 2>/dev/null || skip 'core 0 is not ours'
  for policy in auto block; do
    begin=$(date +%s%3N)
    SHMEM_WAIT=$policy run 100 taskset -c 0 "$OSHRUN" -n 8 --timeout 90 "$pe" work 10
    expect_ok "8 PEs on one core, $policy"
    echo "8 PEs on one core, $policy: $(($(date +%s%3N) - begin)) ms"
  done
  run 30 taskset -c 0 "$OSHRUN" -n 8 --timeout 25 "$pe" blocked barrier 1
  expect_ok 'blocked on one core'
}

# start SCENARIO [COMMAND...]: starts a job of 4 PEs in the background and waits until all PEs run; its pid in $job,
# theirs in $pids. The command starts the PEs.
start() {
  : >out
  : >err
  scenario=$1
  shift
  "$OSHRUN" -n 4 --timeout 40 "$@" "$pe" for_ever "$scenario" >out 2>err </dev/null &
  job=$!
  for _ in $(seq 200); do
    [ "$(grep -c '^ready' out)" = 4 ] && break
    sleep 0.05
  done
  pids=$(sed -n 's/^ready [0-9]* //p' out)
  [ "$(echo "$pids" | wc -w)" = 4 ] || { kill -9 $job; die "$scenario: the PEs did not start"; }
}
pid_of() { sed -n "s/^ready $1 //p" out; }
expect_gone() {  # WHAT [MS]: all processes of the job end within two seconds, plus some for a busy machine, or in MS
  end=$(($(date +%s%3N) + ${2:-10000}))
  for pid in $job $pids; do
    while is_running "$pid"; do
      [ "$(date +%s%3N)" -lt $end ] || { kill -9 $job; die "$1: process $pid still runs"; }
      sleep 0.02
    done
  done
  wait $job
  rc=$?
}

case_killed_while_waiting() {
  for where in put get barriers barrier wait lock finalize compute; do
    start $where
    victim=$(pid_of 2)
    kill -9 "$victim"
    expect_gone "a PE killed in $where"
    [ "$rc" = 137 ] || die "a PE killed in $where: status $rc"
    grep -q "pe 2 (pid $victim, host .*) died of signal 9" err || die "a PE killed in $where: no line names it"
    echo "$where: $(tr '\n' ' ' <err)"
    start $where
    kill -9 $job
    expect_gone "oshrun killed in $where"
  done
}

# A stopped PE of another node to which others are connected, as to a leader, is reported as lost after
# SHMEMX_NET_TIMEOUT, with the variable's name. Not over tcp, where the kernel acknowledges keepalives of a stopped PE.
case_stopped_over_networks() {
  for transport in ucx ofi; do
    [ -e "$(dirname "$LIBRARY")/libshmemx_$transport.so" ] || { echo "$transport: not built"; continue; }
    start wait env SHMEMX_PES_PER_NODE=2 SHMEMX_TRANSPORT=$transport SHMEMX_NET_TIMEOUT=2
    kill -STOP "$(pid_of 2)"
    expect_gone "the PEs beside a stopped one over $transport" 25000
    grep -Eq 'PE 2 on host .* is lost: no answer for 2 s; .*stopped.*SHMEMX_NET_TIMEOUT' err ||
      die "$transport: no advice for a stopped PE"
  done
}

case_stopped() {
  for where in barriers wait put; do
    start $where
    kill -STOP "$(pid_of 1)" "$(pid_of 3)"
    kill -9 "$(pid_of 2)"
    expect_gone "a PE killed among stopped ones in $where"
    start $where
    kill -STOP $pids
    kill -9 $job
    expect_gone "oshrun of stopped PEs killed in $where"
    start $where
    kill -STOP $pids $job
    kill -9 $job
    expect_gone "stopped oshrun of stopped PEs killed in $where"
    start $where
    kill -STOP $pids
    kill -TERM $job
    expect_gone "oshrun of stopped PEs terminated in $where"
    start $where
    kill -STOP "$(pid_of 0)"
    sleep 0.3
    kill -CONT "$(pid_of 0)"
    sleep 0.1
    for pid in $pids; do is_running "$pid" || die "$where: a PE did not survive a pause"; done
    kill -INT $job
    expect_gone "interrupted in $where"
  done
}

expect_state() {  # STATE PID...
  wanted=$1
  shift
  for pid in "$@"; do
    for _ in $(seq 500); do
      case $(state_of "$pid") in $wanted) continue 2 ;; esac
      sleep 0.02
    done
    kill -9 $job
    die "process $pid is in state $(state_of "$pid"), expected $wanted"
  done
}

# Ctrl-Z and fg.
case_suspended() {
  start barriers
  kill -TSTP $job
  expect_state T $job $pids
  kill -CONT $job
  expect_state '[RSD]' $job $pids
  kill -TERM $job
  expect_gone 'terminated after a pause'
}

# nohup: the job continues after SIGHUP.
case_no_hang_up() {
  trap '' HUP
  start wait
  kill -HUP $job
  sleep 2
  for pid in $job $pids; do is_running "$pid" || die 'SIGHUP was ignored when oshrun began, and ended the job'; done
  kill -TERM $job
  expect_gone 'terminated after SIGHUP'
}

# oshrun and the process that ends the PEs after oshrun's death are both killed.
case_guard_killed() {
  need pgrep
  start barrier
  guard=$(pgrep -P $job -x pe-guard) || { kill -9 $job; die 'no guard'; }
  kill -9 "$guard"
  sleep 0.2
  for pid in $pids; do is_running "$pid" || die 'a PE ended with the guard'; done
  kill -9 $job
  expect_gone 'guard and oshrun killed'
}

# A PE that changes its user loses the signal that the kernel sends on the parent's death.
case_killed_as_other_user() {
  need setpriv
  [ "$(id -u)" = 0 ] || skip 'only root can take another user number'
  setpriv --reuid 65501 --regid 65501 --clear-groups "$pe" work >/dev/null 2>&1 || skip 'another user cannot run programs here'
  start wait setpriv --reuid 65501 --regid 65501 --clear-groups
  kill -9 $job
  expect_gone 'oshrun of root killed, PEs of another user'
  start compute setpriv --reuid 65501 --regid 65501 --clear-groups
  kill -9 "$(pid_of 0)"
  expect_gone 'PE of another user killed'
}

# PEs and children of theirs that ignore SIGTERM.
case_stubborn() {
  cat >stubborn.sh <<'END'
trap '' TERM INT HUP
sleep 61 & 
exec "$@"
END
  begin=$(date +%s%3N)
  run 30 "$OSHRUN" -n 3 --timeout 1 sh stubborn.sh "$pe" for_ever wait
  [ "$rc" = 124 ] || die "time limit: status $rc"
  [ $(($(date +%s%3N) - begin)) -lt 20000 ] || die 'more than twenty seconds for a limit of one'
  for _ in $(seq 200); do
    left=$(grep -lsz "^PWD=$dir\$" /proc/[0-9]*/environ 2>/dev/null | while read -r file; do
      grep -lsz '^sleep$' "${file%environ}cmdline"; done)
    [ -z "$left" ] && break
    sleep 0.1
  done
  [ -z "$left" ] || die "a child still runs: $left"
}

run_case "$@"
