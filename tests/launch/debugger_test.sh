#!/bin/sh
# debugger_test.sh CASE: PEs under gdb, and PEs that wait for it or trap before they end. Needs OSHRUN, MISUSE and ENDING, two
# programs of tests/death.
. "$(dirname "$0")/../support/script.sh"

need_gdb() {
  need gdb
  gdb -nx -batch -ex run --args true >probe 2>&1
  grep -q 'exited normally' probe || skip "gdb cannot run a program here: $(tail -n 1 probe)"
  export OSHRUN_GDB="gdb -nx -batch $*"
}
waiting_command() {  # prints the command that the line of a waiting PE shows
  sed -n 's/.* waits for a debugger: \(gdb -p [0-9]* [^;]*\); goes on .*/\1/p' err
}
start_waiting() {  # COMMAND...: runs it in the background, and returns when a PE waits for a debugger
  timeout -k 2 60 "$@" >out 2>err </dev/null &
  job=$!
  wait_for err 'waits for a debugger' 1
}

case_pe_runs_under_gdb() {
  need_gdb -ex run
  for pe in 0 1; do
    run 60 "$OSHRUN" --gdb=$pe -n 2 "$ENDING" finalize_twice
    expect_rc 0
    [ "$(grep -c 'exited normally' out)" = 1 ] || die 'not one PE ran under gdb'
    expect_err_lines 0
  done
  run 60 "$OSHRUN" --gdb -n 2 "$ENDING" return 0
  expect_rc 0
}
case_gdb_reads_the_terminal() {
  need_gdb
  export OSHRUN_GDB='gdb -nx -q'
  printf 'set confirm off\nrun\nshow environment SHMEMX_JOB_PE\nquit\n' >commands
  timeout -k 2 60 "$OSHRUN" --gdb=1 -n 2 "$ENDING" finalize_twice <commands >out 2>err
  rc=$?
  expect_rc 0
  grep -q 'SHMEMX_JOB_PE = 1' out || die 'gdb does not read the input'
}
case_gdb_stops_at_a_line() {
  need_gdb -ex run -ex backtrace
  run 60 "$OSHRUN" --gdb=1 -n 2 "$MISUSE" put_pe
  expect_rc 1
  expect_err '^\[pe 1/2 [^]]+\] shmem_int_put: argument .pe. is 12, allowed are 0\.\.1 \(team WORLD\)'
  expect_err '^oshrun: the debugger of pe 1 has ended, and its program before shmem_finalize; job ended$'
  grep -q 'received signal SIGTRAP' out || die 'gdb does not stop at the line'
  grep -Eq '^#[0-9]+ .*main' out || die 'gdb shows no stack'
}
case_gdb_has_the_commands() {
  need_gdb -ex run
  export OSHRUN_GDB="gdb -nx -batch -ex 'help'"
  export OSHRUN_GDB="gdb -nx -batch -x $dir/commands"
  printf 'help shmemx\n' >commands
  run 60 "$OSHRUN" --gdb -n 1 "$ENDING" return 0
  grep -q 'shmemx pes' out || die 'gdb does not know the commands of the library'
}
case_usage() {
  run 10 "$OSHRUN" --gdb=0,1 -n 2 true
  expect_rc 2
  expect_err "^oshrun: --gdb names several PEs, and this terminal can serve one; OSHRUN_GDB='xterm -e gdb' opens one for each$"
  run 10 "$OSHRUN" --gdb=7 -n 2 true
  expect_rc 2
  expect_err '^oshrun: --gdb names PE 7, the job has 2$'
  run 10 "$OSHRUN" --gdb=x -n 2 true
  expect_rc 2
  expect_err "^oshrun: --gdb=x: 'x' is no PE; write it as in --gdb=1, or --gdb=0,2$"
  OSHRUN_GDB=/nowhere/gdb run 10 "$OSHRUN" --gdb -n 2 true
  expect_rc 127
  expect_err '^oshrun: cannot run /nowhere/gdb: '
  run 10 "$OSHRUN" --gdb -n 2 -host not-this-host.example --launcher hydra true
  expect_rc 1
  expect_err '^oshrun: --gdb works on one machine only; --attach-on-abort works on several$'
}
case_trap_on_abort() {
  export SHMEM_TRAP_ON_ABORT=1
  run 20 "$OSHRUN" -n 3 "$MISUSE" put_pe
  expect_rc 133
  expect_err '^\[pe 2/3 [^]]+\] shmem_int_put: argument .pe. is 12, allowed are 0\.\.2 \(team WORLD\)'
  expect_err '^oshrun: pe 2 \(pid [0-9]+, host [^)]+\) died of signal 5 \(Trace/breakpoint trap(, core dumped)?\); job ended$'
}
case_attach_by_line() {
  start_waiting "$OSHRUN" --attach-on-abort -n 3 "$MISUSE" put_pe
  sleep 2  # longer than oshrun gives a job that has ended
  pid=$(waiting_command | sed 's/gdb -p \([0-9]*\) .*/\1/')
  [ -d "/proc/$pid" ] || die 'the PE does not wait'
  [ "$(readlink "/proc/$pid/exe")" = "$(waiting_command | sed 's/gdb -p [0-9]* //')" ] || die 'the command names another program'
  [ "$(wc -l <err)" = 2 ] || die 'more than one PE says something'
  kill -INT "$(pgrep -P "$job" -x oshrun)"
  wait $job
  rc=$?
  expect_rc 130
}
case_attach_with_gdb() {
  need_gdb
  for how in line signal; do
    if [ $how = line ]; then
      start_waiting "$OSHRUN" --attach-on-abort -n 2 "$MISUSE" put_pe
    else
      start_waiting env SHMEM_BACKTRACE=1 "$OSHRUN" --attach-on-abort -n 2 "$ENDING" abort_while_others_are_in_a_barrier
    fi
    timeout 60 $(waiting_command) -nx -batch -ex backtrace >attached 2>&1
    if grep -q 'Operation not permitted' attached; then
      kill -INT "$(pgrep -P "$job" oshrun)"
      skip 'processes may not be traced here'
    fi
    grep -Eq '^#[0-9]+ .*main' attached || die "gdb shows no stack: $(cat attached)"
    sleep 1
    timeout 60 $(waiting_command) -nx -batch -ex continue -ex continue >attached 2>&1
    wait $job
    rc=$?
    if [ $how = line ]; then expect_rc 1; else expect_rc 134; fi
  done
}
commands='-ex "shmemx pes" -ex "shmemx heap" -ex "shmemx contexts" -ex "shmemx teams" -ex "shmemx windows" -ex "shmemx queues"'
has_debug_information() {  # by the output of the commands
  ! grep -q 'has no debug information' shown || skip 'the library has no debug information'
}
shows() {  # PATTERN...
  for pattern in "$@"; do
    grep -Eq -- "$pattern" shown || die "gdb does not show '$pattern': $(cat shown)"
  done
}
shows_state() {
  shows '^symmetric heap of PE 1 at 0x[0-9a-f]+: .*, in use 4 KiB, at most 4 KiB$' 'heap\+0x[0-9a-f]+: 4 KiB$' \
    '^context 1 \(SHMEM_CTX_DEFAULT\): .* this is PE 1 of 2, 0 operations' '^context 2: ' \
    '^team 1 \(SHMEM_TEAM_WORLD\): PEs 0, 1, this is 1 of 2; collectives [0-9]+, latest: reduction \(3 elements\)$' \
    '^team [0-9]+: PE 1, this is 0 of 1; ' '^window 0, generation 0, symmetric heap: ' \
    'public window: 1000 bytes at 0x[0-9a-f]+ \(.*exposed.*\)$' "$1" \
    '^receives of the program that wait' '^  from PE 0, tag 77$' '^  from PE 0, tag 55, 300 bytes, eager$' \
    '^sends that are not complete: 0$'
}
case_state_of_a_process() {
  need_gdb
  timeout -k 2 60 "$OSHRUN" -n 2 "$DEBUGGED" wait >out 2>err </dev/null &
  job=$!
  for _ in $(seq 200); do
    "$OSHRUN" --status "$(pgrep -P $job -x oshrun || echo $job)" 2>/dev/null | tee status | grep -q 'waiting in shmem_long_wait_until.*called at' &&
      grep -q 'waiting in shmem_barrier_all.*called at' status && break
    sleep 0.05
  done
  pid=$(pgrep -f "^$DEBUGGED wait" | tail -n 1)
  eval "gdb -nx -batch -x '$COMMANDS' $commands -p $pid" >shown 2>&1
  kill -INT "$(pgrep -P $job -x oshrun || echo $job)"
  ! grep -q 'Operation not permitted' shown || skip 'processes may not be traced here'
  # Also without debug information, as oshrun shows it.
  shows 'waiting in shmem_barrier_all, called at main \(debugged_pe\.cpp:[0-9]+\),? for' \
    'waiting in shmem_long_wait_until.*, called at main \(debugged_pe\.cpp:[0-9]+\),? for'
  has_debug_information
  shows 'place 1: pid [0-9]+, running, waiting in shmem_long_wait_until.*<- this one, PE 1$'
  shows_state '^cells of PE 1: [0-9]+ of .* free in its queue; 0 wait'
}
case_state_of_a_core() {
  need_gdb
  cat >dump <<'END'
handle SIGTRAP stop nopass
run
generate-core-file core.of.pe
END
  export OSHRUN_GDB="gdb -nx -batch -x $dir/dump"
  run 60 "$OSHRUN" --gdb=1 -n 2 "$DEBUGGED"
  [ -s core.of.pe ] || skip "gdb writes no core dump here: $(tail -n 1 out)"
  eval "gdb -nx -batch -x '$COMMANDS' $commands '$DEBUGGED' core.of.pe" >shown 2>&1
  has_debug_information
  shows_state '^cells'
}
case_null_pointer_is_explained() {  # by the allocation that had failed
  run 20 "$OSHRUN" -n 2 "$DEBUGGED" null
  expect_rc 139
  expect_err '^oshrun: pe 1: its last allocation that failed had returned NULL for 1125899906842624 bytes, where the symmetric heap had room for [0-9]+ \(SHMEM_SYMMETRIC_SIZE\)$'
}
run_case "$@"
