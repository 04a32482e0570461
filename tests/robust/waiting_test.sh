#!/bin/sh
# waiting_test.sh CASE: PEs that wait on busy and on idle machines, and PEs that are stopped or killed while they do.
. "$(dirname "$0")/common.sh"

# Blocked PEs sleep. Promised are 5 % of a core, measured on an idle machine; the bound leaves room for a busy one.
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

# start SCENARIO [COMMAND...]: a job of 4 PEs in the background, until all its PEs are there; its pid in $job, theirs in
# $pids. The command starts the PEs.
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
alive() {  # a zombie whose parent has not looked yet is dead
  state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null)
  [ -n "$state" ] && [ "$state" != Z ]
}
expect_gone() {  # all of the job within two seconds, and one more where the machine is busy
  end=$(($(date +%s%3N) + 3000))
  for pid in $job $pids; do
    while alive "$pid"; do
      [ "$(date +%s%3N)" -lt $end ] || { kill -9 $job; die "$1: process $pid is still there"; }
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

# A PE of another node that a debugger stops is lost after SHMEMX_NET_TIMEOUT: the message names the variable. Over tcp
# the kernel answers for a stopped PE.
case_stopped_over_networks() {
  for transport in ucx ofi; do
    [ -e "$(dirname "$LIBRARY")/libshmemx_$transport.so" ] || { echo "$transport: not built"; continue; }
    start wait env SHMEMX_PES_PER_NODE=2 SHMEMX_TRANSPORT=$transport SHMEMX_NET_TIMEOUT=1
    kill -STOP "$(pid_of 3)"
    expect_gone "the PEs beside a stopped one over $transport"
    grep -Eq 'PE 3 on host .* is lost: no answer for 1 s; .*stopped.*SHMEMX_NET_TIMEOUT' err ||
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
    for pid in $pids; do alive "$pid" || die "$where: a PE did not survive a pause"; done
    kill -INT $job
    expect_gone "interrupted in $where"
  done
}

state_of() { sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null; }
expect_state() {  # STATE PID...
  wanted=$1
  shift
  for pid in "$@"; do
    for _ in $(seq 100); do
      case $(state_of "$pid") in $wanted) continue 2 ;; esac
      sleep 0.02
    done
    kill -9 $job
    die "process $pid is in state $(state_of "$pid"), expected $wanted"
  done
}

# What Ctrl-Z and fg do.
case_suspended() {
  start barriers
  kill -TSTP $job
  expect_state T $job $pids
  kill -CONT $job
  expect_state '[RSD]' $job $pids
  kill -TERM $job
  expect_gone 'terminated after a pause'
}

# nohup: the terminal goes away, the job stays.
case_no_hang_up() {
  trap '' HUP
  start wait
  kill -HUP $job
  sleep 2
  for pid in $job $pids; do alive "$pid" || die 'SIGHUP was ignored when oshrun began, and ended the job'; done
  kill -TERM $job
  expect_gone 'terminated after SIGHUP'
}

# The process that ends the PEs when oshrun is gone may be gone itself.
case_guard_killed() {
  need pgrep
  start barrier
  guard=$(pgrep -P $job -x pe-guard) || { kill -9 $job; die 'no guard'; }
  kill -9 "$guard"
  sleep 0.2
  for pid in $pids; do alive "$pid" || die 'a PE ended with the guard'; done
  kill -9 $job
  expect_gone 'guard and oshrun killed'
}

# A PE that changes its user loses the kernel's "die with the parent".
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

# PEs that ignore SIGTERM, with children that do, too.
case_stubborn() {
  cat >stubborn.sh <<'END'
trap '' TERM INT HUP
sleep 61 & 
exec "$@"
END
  begin=$(date +%s%3N)
  run 30 "$OSHRUN" -n 3 --timeout 1 sh stubborn.sh "$pe" for_ever wait
  [ "$rc" = 124 ] || die "time limit: status $rc"
  [ $(($(date +%s%3N) - begin)) -lt 6000 ] || die 'more than six seconds for a limit of one'
  left=$(grep -lsz "^PWD=$dir\$" /proc/[0-9]*/environ 2>/dev/null | while read -r file; do
    grep -lsz '^sleep$' "${file%environ}cmdline"; done)
  [ -z "$left" ] || die "a child is still there: $left"
}

run_case "$@"
