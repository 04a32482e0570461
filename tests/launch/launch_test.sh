#!/bin/sh
# launch_test.sh CASE: oshrun, alone and with other launchers. Needs OSHRUN and PROBE. Every command has a time limit.
script=$(realpath "$0")
. "$(dirname "$0")/../support/script.sh"

marked() {  # MARK: prints the processes with LAUNCH_MARK=MARK in their environment
  grep -lsz "^LAUNCH_MARK=$1\$" /proc/[0-9]*/environ 2>/dev/null | while read -r file; do
    pid=${file#/proc/}
    pid=${pid%/environ}
    is_running "$pid" && echo "$pid"
  done
}
expect_gone() {  # MARK
  for _ in $(seq 100); do
    [ -z "$(marked "$1")" ] && return
    sleep 0.2
  done
  die "still running after twenty seconds: $(marked "$1" | tr '\n' ' ')"
}
child_of() {  # PID
  grep -ls "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status 2>/dev/null | head -n 1 | sed 's|/proc/||; s|/status||'
}

# wait_for_status OSHRUN-PID PATTERN...: until `oshrun --status` shows a line for each pattern; it stays in the file status
wait_for_status() {
  launcher=$1
  shift
  for _ in $(seq 200); do
    is_shown=yes
    "$OSHRUN" --status "$launcher" >status 2>&1 || is_shown=no
    for pattern in "$@"; do grep -q -- "$pattern" status || is_shown=no; done
    [ $is_shown = yes ] && return
    sleep 0.05
  done
  die "not the status expected: $(cat status)"
}

# Restarts the case in its own network namespace, if that is allowed: oshrun records bound cores per namespace.
alone() {
  [ -z "${LAUNCH_ALONE:-}" ] || return 0
  for options in -rn -n; do
    unshare $options true 2>/dev/null || continue
    cd /
    rm -rf "$dir"
    LAUNCH_ALONE=1 exec unshare $options sh "$script" "$1"
  done
}

case_hello_pes() {
  for n in 1 2 3 8 33; do
    run 20 "$OSHRUN" -n $n "$PROBE" attach hello finalize
    expect_rc 0
    [ "$(sort -u out | wc -l)" = $n ] || die "$n PEs did not say hello"
    [ "$(grep -c " of $n via oshrun" out)" = $n ] || die "not all are of $n"
    expect_err_lines 0
  done
}
case_hello_256() {
  run 30 "$OSHRUN" -n 256 "$PROBE" attach hello finalize
  expect_rc 0
  [ "$(sort -u out | wc -l)" = 256 ] || die "256 PEs did not say hello"
}
case_exit_codes() {
  for code in $(seq 0 255); do
    run 10 "$OSHRUN" -n 1 sh -c "exit $code"
    expect_rc "$code"
  done
}
case_exit_of_first_failing() {
  run 10 "$OSHRUN" -n 4 "$PROBE" attach @2 others-wait @2 exit 9 @0 wait shmem_barrier_all @1 wait shmem_barrier_all @3 wait shmem_quiet
  expect_rc 9
  expect_err '^oshrun: pe 2 \(pid [0-9]+, host [^)]+\) exited with status 9; job ended$'
  expect_err_lines 2
}
case_status_after_finalize_lets_others_end() {
  run 10 "$OSHRUN" -n 3 "$PROBE" attach finalize @1 exit 5 @0 sleep 0.7 @0 print done
  expect_rc 5
  expect_out done
  expect_err 'exited with status 5 after shmem_finalize$'
}
case_death_by_signal() {
  run 10 "$OSHRUN" -n 4 -x LAUNCH_MARK=$$ "$PROBE" attach \
    @3 others-wait @3 signal 11 @0 wait shmem_barrier_all @1 wait shmem_barrier_all @2 wait shmem_long_wait_until
  expect_rc 139
  expect_err '^oshrun: pe 3 \(pid [0-9]+, host [^)]+\) died of signal 11 \(Segmentation fault(, core dumped)?\); job ended$'
  expect_err '^oshrun: waiting were: pe 0, 1 in shmem_barrier_all; pe 2 in shmem_long_wait_until$'
  expect_gone $$
}
# In a new control group with a limit of 64 MiB, if this user may create one.
case_death_at_a_memory_limit() {
  need perl
  [ "$(id -u)" = 0 ] || skip 'only root can create a control group'
  group=/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)/launch_test.$$
  limit=memory.limit_in_bytes
  if ! grep -q ':memory:' /proc/self/cgroup; then
    group=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/launch_test.$$
    limit=memory.max
  fi
  mkdir "$group" 2>/dev/null || skip 'no control group can be created'
  clean_up() { for _ in 1 2 3 4 5; do rmdir "$group" && break; sleep 0.2; done; }
  { echo 67108864 >"$group/$limit"; } 2>/dev/null || skip 'no memory limit can be set'
  [ -e "$group/memory.swap.max" ] && echo 0 >"$group/memory.swap.max"
  run 30 sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" \
    "$OSHRUN" -n 2 sh -c '[ $SHMEMX_JOB_PE = 0 ] && sleep 20; exec perl -e "\$n = 200000000; \$x = q(a) x \$n; sleep 20"'
  expect_rc 137
  expect_err "^oshrun: pe 1 \\(pid [0-9]+, host [^)]+\\) died of signal 9 \\(Killed at the memory limit of 67108864 bytes of the control group $group; .*\\); job ended\$"
  # A program that a script starts.
  run 30 sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" \
    "$OSHRUN" -n 2 sh -c '[ $SHMEMX_JOB_PE = 0 ] && sleep 20; perl -e "\$n = 200000000; \$x = q(a) x \$n; sleep 20"; exit $?'
  expect_rc 137
  expect_err "exited with status 137 \\(its program was killed at the memory limit of 67108864 bytes of the control group $group; .*\\); job ended\$"
  # A kill that is not the kernel's.
  run 30 sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$OSHRUN" -n 2 sh -c '[ $SHMEMX_JOB_PE = 0 ] && sleep 20; kill -9 $$'
  expect_rc 137
  expect_err 'died of signal 9 \(Killed\); job ended$'
}
case_death_names_own_routine() {
  timeout 20 "$OSHRUN" -n 2 -x LAUNCH_MARK=$$ "$PROBE" attach print ready wait shmem_quiet >out 2>err &
  wait_for out ready 2
  wait_for_status "$(child_of $!)" '^pe 0, 1 (pid [0-9]*, [0-9]*): waiting in shmem_quiet$'
  kill -9 "$(marked $$ | head -n 1)"
  wait $!
  rc=$?
  expect_rc 137
  expect_err 'died of signal 9 \(Killed\) while waiting in shmem_quiet; job ended$'
  expect_gone $$
}
case_stubborn_pes_are_killed() {
  run 10 "$OSHRUN" -n 3 -x LAUNCH_MARK=$$ sh -c 'trap "" TERM; [ "$SHMEMX_JOB_PE" = 1 ] && sleep 0.3 && exit 4; while :; do sleep 0.1; done'
  expect_rc 4
  expect_gone $$
}
case_aborted_job_adds_no_line() {
  run 10 "$OSHRUN" -n 3 "$PROBE" attach @1 abort 7 wait shmem_barrier_all
  expect_rc 7
  expect_err '^probe: diagnostic of pe 1$'
  expect_err_lines 1
}
case_global_exit() {
  for code in 0 42; do
    run 10 "$OSHRUN" -n 3 "$PROBE" attach @1 global $code wait shmem_barrier_all
    expect_rc $code
    expect_err_lines 0
  done
}
case_missing_init_is_detected() {
  run 10 "$OSHRUN" -n 3 "$PROBE" @1 exit 0 attach
  expect_rc 1
  expect_err '^oshrun: pe 1 \(host [^)]+\) ended with status 0 without calling shmem_init, but others wait for it: pe 0, 2 in shmem_init; job ended$'
  expect_err_lines 1
}
case_programs_without_shmem_just_run() {
  run 10 "$OSHRUN" -n 3 sh -c '[ $SHMEMX_JOB_PE = 0 ] && sleep 1.5; echo done'
  expect_rc 0
  expect_out "$(printf 'done\ndone\ndone')"
}
case_waiting_that_can_end_is_left_alone() {  # a wait_until may be ended by a PE that still runs
  run 4 "$OSHRUN" -n 3 --timeout 2.2 "$PROBE" attach @1 exit 0 wait shmem_long_wait_until
  expect_rc 124
}
case_kill_launcher() {
  for signal in KILL TERM INT HUP SEGV; do
    rm -f out
    mark=$$-$signal
    # A wrapper script with another child: the whole process group must end.
    timeout 30 "$OSHRUN" -n 3 -x LAUNCH_MARK="$mark" sh -c 'sleep 100 & "$0" attach print ready wait shmem_quiet; :' "$PROBE" >out 2>err &
    wait_for out ready 3
    launcher=$(child_of $!)
    kill -s $signal $launcher
    expect_gone "$mark"
    wait $!
  done
  return 0
}
case_quit_shows_what_pes_do() {  # and changes nothing
  timeout 20 "$OSHRUN" -n 3 "$PROBE" attach print ready @1 wait shmem_quiet wait shmem_barrier_all >out 2>err &
  wait_for out ready 3
  launcher=$(child_of $!)
  wait_for_status $launcher '^pe 0, 2 (pid [0-9]*, [0-9]*): waiting in shmem_barrier_all$' \
    '^pe 1 (pid [0-9]*): waiting in shmem_quiet$' '^pe 1 is the only one that is not in shmem_barrier_all$'
  kill -s QUIT $launcher
  wait_for err 'is the only one' 1
  kill -0 $launcher || die "SIGQUIT has ended the job"
  kill -s TERM $launcher
  wait $!
  expect_err '^oshrun: pe 0, 2 \(pid [0-9]*, [0-9]*\): waiting in shmem_barrier_all$'
  rm -f status
  run 10 "$OSHRUN" --status $$
  expect_rc 1
  expect_err "^oshrun: process $$ is no PE, and no PE of this host is below it; allowed are a PE, its oshrun and other launchers above it$"
}
case_forwarded_signals_can_be_handled() {
  timeout 20 "$OSHRUN" -n 2 "$PROBE" handle 10 handle 15 attach print ready wait shmem_quiet >out 2>err &
  wait_for out ready 2
  kill -s TERM "$(child_of $!)"
  wait $!
  rc=$?
  expect_rc 55
  timeout 20 "$OSHRUN" -n 2 "$PROBE" handle 10 attach print ready wait shmem_quiet >out 2>err &
  wait_for out ready 2
  kill -s USR1 "$(child_of $!)"
  wait $!
  rc=$?
  expect_rc 50
}
case_second_program_of_a_pe_is_refused() {
  run 10 "$OSHRUN" -n 1 sh -c '"$0" attach finalize && "$0" attach finalize' "$PROBE"
  expect_rc 77
  expect_err 'pe 0 of this job was already taken by process [0-9]+'
}
case_wrapper_script() {
  printf '#!/bin/sh\nexec "$@"\n' >wrapper.sh
  printf '"$@"\n' >plain  # no "#!" line
  chmod +x wrapper.sh plain
  for wrapper in ./wrapper.sh ./plain; do
    run 10 "$OSHRUN" -n 2 $wrapper "$PROBE" attach hello finalize
    expect_rc 0
    expect_sorted "$(printf 'pe 0 of 2 via oshrun\npe 1 of 2 via oshrun')"
  done
  run 10 "$OSHRUN" -n 2 sh -c '"$0" attach @1 signal 11 wait shmem_quiet' "$PROBE"
  expect_rc 139
  run 10 "$OSHRUN" -n 2 -x LAUNCH_MARK=$$ "$PROBE" fork-sleep
  expect_rc 0
  expect_gone $$
}
case_mpmd() {
  run 10 "$OSHRUN" -n 1 "$PROBE" attach print first finalize : -np 2 -x PART=second "$PROBE" attach env PART finalize
  expect_rc 0
  expect_sorted "$(printf 'first\nsecond\nsecond')"
}
case_export_variable() {
  FROM_OUTSIDE=kept run 10 "$OSHRUN" -n 2 -x A=1 -x FROM_OUTSIDE -x 'B=x y=z' "$PROBE" @0 env A @0 env B @0 env FROM_OUTSIDE
  expect_rc 0
  expect_out "$(printf '1\nx y=z\nkept')"
  A=old run 10 "$OSHRUN" -n 1 -x A=new "$PROBE" env A
  expect_out new
  run 10 "$OSHRUN" -n 1 -x NOT_SET_AT_ALL true
  expect_rc 2
  expect_err 'NOT_SET_AT_ALL: the variable is not set'
}
case_directory() {
  mkdir sub
  here=$(pwd -P)
  for option in -wdir --wdir -wd; do
    [ $option = -wd ] && option=--wd
    run 10 "$OSHRUN" -n 1 $option sub "$PROBE" cwd
    expect_rc 0
    expect_out "$here/sub"
  done
  run 10 "$OSHRUN" -n 1 -wdir nowhere "$PROBE" cwd
  expect_rc 127
  expect_err "^oshrun: cannot change to the directory nowhere \\(--wdir\\): No such file or directory$"
  expect_err_lines 1
  run 10 "$OSHRUN" -n 2 --wdir nowhere ./not-there-either
  expect_rc 127
  expect_err '^oshrun: cannot change to the directory nowhere '
  : >file
  run 10 "$OSHRUN" -n 1 --wdir file "$PROBE" cwd
  expect_rc 126
  expect_err 'directory file \(--wdir\): Not a directory'
}
case_stdin_goes_to_pe_0() {
  printf 'one\ntwo\n' >input
  timeout 10 "$OSHRUN" -n 3 "$PROBE" stdin <input >out 2>err
  rc=$?
  expect_rc 0
  expect_out "$(printf 'one\ntwo')"
  printf 'piped\n' | timeout 10 "$OSHRUN" -n 2 "$PROBE" stdin >out 2>err
  expect_out piped
}
case_stdin_of_a_terminal() {
  need script
  (sleep 1; printf 'typed\n'; sleep 1; printf '\004') |
    OSHRUN=$OSHRUN PROBE=$PROBE timeout 20 script -qec '"$OSHRUN" -n 2 "$PROBE" stdin' /dev/null >out 2>err
  grep -q typed out || die "PE 0 did not read from the terminal"
}
case_tag_output() {
  run 10 "$OSHRUN" -n 2 -l sh -c 'echo line; printf rest; echo wrong >&2'
  expect_rc 0
  expect_sorted "$(printf '[0] line\n[0] rest\n[1] line\n[1] rest')"
  [ "$(sort err)" = "$(printf '[0] wrong\n[1] wrong')" ] || die "stderr is not tagged"
  run 20 "$OSHRUN" -n 2 --tag-output sh -c 'seq 1 20000'
  [ "$(grep -c '^\[1\] ' out)" = 20000 ] || die "lines of a long output are missing"
}
# The reader of the output closes the pipe: the PEs get SIGPIPE as without tags. `yes` would never end.
case_tag_output_without_a_reader() {
  for size in endless large; do
    program=yes
    [ $size = large ] && program='seq 1 100000'
    { timeout -k 2 10 "$OSHRUN" -n 2 -l $program 2>err; echo $? >status; } | head -n 1 >out
    rc=$(cat status)
    [ "$rc" = 141 ] || die "$program: status $rc, expected 141"
    grep -q '^\[[01]\] ' out || die "$program: no tagged line"
  done
}
case_tag_output_that_cannot_be_written() {
  [ -c /dev/full ] || skip 'there is no /dev/full'
  timeout 10 "$OSHRUN" -n 2 -l echo lost >/dev/full 2>err
  rc=$?
  expect_rc 1
  expect_err '^oshrun: cannot write to standard output: No space left on device; output of the PEs is lost$'
  expect_err_lines 1
  timeout 10 "$OSHRUN" -n 2 -l sh -c 'echo lost >&2' 2>/dev/full
  rc=$?
  expect_rc 1
  timeout 10 "$OSHRUN" -n 2 -l yes >/dev/full 2>err
  rc=$?
  expect_rc 141
  expect_err '^oshrun: cannot write to standard output: No space left on device'
  timeout 10 "$OSHRUN" -n 2 -l sh -c 'echo lost; exit 3' >/dev/full 2>err
  rc=$?
  expect_rc 3
}
case_time_limit() {
  for seconds in 1 4 16; do  # on a busy machine PEs may need longer to come where they wait
    run 40 "$OSHRUN" -n 2 --timeout $seconds -x LAUNCH_MARK=$$ "$PROBE" attach wait shmem_barrier_all
    grep -q 'waiting in shmem_barrier_all' err && break
  done
  expect_rc 124
  expect_err "^oshrun: time limit of $seconds s reached with 2 of 2 PEs running; job ended\$"
  expect_err '^oshrun: pe 0, 1 \(pid [0-9]*, [0-9]*\): waiting in shmem_barrier_all$'
  expect_gone $$
  for time in 90 90s 1m 1.5H 2h 0.5m; do
    run 10 "$OSHRUN" -n 1 --timeout $time true
    expect_rc 0
  done
  run 10 "$OSHRUN" -n 1 --timeout 0.01m "$PROBE" attach wait shmem_barrier_all
  expect_rc 124
  expect_err '^oshrun: time limit of 0.6 s reached'
  for time in 0 -1 1x m nan inf 1e300 ''; do
    run 10 "$OSHRUN" -n 1 --timeout "$time" true
    expect_rc 2
    expect_err "^oshrun: --timeout: '$time' is not a time limit; allowed are seconds above 0, .* 90, 1m or 2h; see oshrun --help$"
    [ "$(wc -c <err)" -lt 200 ] || die "the message is long"
  done
}
case_bind_to() {
  for where in core socket numa none; do
    run 10 "$OSHRUN" -n 3 --bind-to $where grep Cpus_allowed_list /proc/self/status
    expect_rc 0
    [ "$(wc -l <out)" = 3 ] || die "three PEs did not run"
  done
  run 10 "$OSHRUN" --bind-to moon true
  expect_rc 2
}
# start_bound NAME: starts a job of one PE bound to a core that lasts until the file "end" exists, or this test ends; its
# CPUs in cpus.NAME.
start_bound() {
  timeout 60 "$OSHRUN" -n 1 --bind-to core sh -c \
    'grep Cpus_allowed_list /proc/self/status >"cpus.$0"; echo started; while [ -e "cpus.$0" ] && [ ! -e end ]; do sleep 0.05; done' "$1" >"job.$1" 2>"err.$1" &
  eval "pid_$1=$!"
  wait_for "job.$1" started 1
}
# No two jobs have the same core, a job without one prints so, and the core of a killed job is free again.
case_jobs_are_bound_to_different_cores() {
  alone jobs_are_bound_to_different_cores
  unset OSHRUN_QUIET
  all=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
  bound=0
  for name in $(seq $(($(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc) + 1))); do
    [ "$name" -gt 9 ] && break
    start_bound "$name"
    if grep -q 'the PEs are not bound: other jobs have bound all cores' "err.$name"; then
      [ "$(cut -f 2 "cpus.$name")" = "$all" ] || die "job $name says that it is not bound, but it is"
    else
      [ ! -s "err.$name" ] || die "job $name says $(cat "err.$name")"
      echo "$(cut -f 2 "cpus.$name")" >>bound
      bound=$((bound + 1))
    fi
  done
  [ -z "$(sort bound | uniq -d)" ] || die "jobs are bound to the same core: $(sort bound | tr '\n' ' ')"
  # In a shared namespace other tests may have bound all cores.
  [ "$bound" -ge 1 ] || [ -z "${LAUNCH_ALONE:-}" ] || die "no job is bound"
  kill -9 "$(child_of "$pid_1")"
  for _ in $(seq 50); do
    run 10 "$OSHRUN" -n 1 --bind sh -c 'grep Cpus_allowed_list /proc/self/status'
    expect_rc 0
    grep -q 'not bound' err || break
    sleep 0.2
  done
  expect_err "^oshrun: info: pe 0 is bound to core with cpu $(cut -f 2 out)\$"
  # With all cores bound, the only free one is the killed job's.
  if [ -n "${LAUNCH_ALONE:-}" ] && grep -q 'are not bound' err.*; then
    [ "$(cut -f 2 out)" = "$(cut -f 2 cpus.1)" ] || die "the free core is not the killed job's"
  fi
  touch end
  wait
}
case_binding_is_shown() {
  alone binding_is_shown
  for what in --bind --bind-to\ socket\ --bind; do
    for _ in $(seq 50); do
      run 10 "$OSHRUN" -n 2 -q $what true
      expect_rc 0
      grep -q 'may run on' err || break
      sleep 0.2
    done
    [ "$(grep -Ec '^oshrun: info: pe [01] is bound to (core|socket) with cpu [0-9,-]+$' err)" = 2 ] || die "$what shows no map"
  done
  run 10 "$OSHRUN" -n 2 -q --bind --bind-to none true
  expect_err '^oshrun: info: pe 0\.\.1 may run on cpu [0-9,-]+$'
  expect_err_lines 1
}
case_usage_errors() {
  for words in '-n 0 true' '-n x true' '-n' '--no-such-option true' '' '-n 2 true :' '-n 5000 true'; do
    run 10 "$OSHRUN" $words
    expect_rc 2
    expect_err '^oshrun: '
    expect_err_lines 1
  done
  run 10 "$OSHRUN" -hostfile no-such-file -n 2 true
  expect_rc 2
  expect_err 'cannot read the host file no-such-file: No such file or directory'
  for list in '' a, a:0 a:x a:2:3 a:5000 -a 'a;b' 'a b'; do
    run 10 "$OSHRUN" "-hosts=$list" -n 2 true
    expect_rc 2
    expect_err '^oshrun: '
    expect_err_lines 1
  done
  run 10 "$OSHRUN" -n 2 ./no-such-program
  expect_rc 127
  expect_err 'cannot run ./no-such-program: No such file or directory'
  printf '#!/bin/sh\nexit 127\n' >program-of-this-folder
  chmod +x program-of-this-folder
  run 10 "$OSHRUN" -n 2 program-of-this-folder
  expect_rc 127
  expect_err 'cannot run program-of-this-folder: .* in PATH; there is one in this directory: ./program-of-this-folder$'
  run 10 "$OSHRUN" -n 2 ./program-of-this-folder
  expect_rc 127
  expect_err '^oshrun: pe [01]: status 127 says that the program, or a shared library of it, was not found; '
  : >not-executable
  run 10 "$OSHRUN" -n 2 ./not-executable
  expect_rc 126
  run 10 "$OSHRUN" --version
  expect_rc 0
  run 10 "$OSHRUN" --help
  expect_rc 0
  grep -q -- '--bind-to none|core|socket|numa$' out || die "--help lacks an option, or its values"
  grep -q -- '-n,--np N .*1 to 4096' out || die "--help does not tell the number of PEs in plain words"
  grep -Eq 'INT|TEXT|POSITIVE| in \[' out && die "--help shows types of the program"
  head -n 2 out | grep -q '^Usage: oshrun \[options\] program ' || die "--help has no line of usage"
}
case_notes() {
  unset OSHRUN_QUIET
  cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
  more='^oshrun: info: [0-9]+ PEs share [0-9]+ usable cores?; '
  absent='^oshrun: info: none of the [0-9]+ PEs joined the job by shmem_init; .*oshcc'
  run 20 "$OSHRUN" -n $((cores + 1)) "$PROBE" attach hello finalize
  expect_rc 0
  expect_err "$more"
  expect_err_lines 1
  run 20 "$OSHRUN" -n $((cores + 1)) -v "$PROBE" attach hello finalize
  expect_err "$more"
  # A program of another library: no PE attaches.
  run 20 "$OSHRUN" -n $((cores + 1)) echo PE 0 of 1
  expect_rc 0
  expect_err "$absent"
  expect_err_lines 2
  run 20 taskset -c "$(taskset -pc $$ | sed 's/.*: //; s/[,-].*//')" "$OSHRUN" -n 2 true
  expect_err '^oshrun: info: 2 PEs share 1 usable core; '
  for quiet in -q --quiet -quiet; do
    run 20 "$OSHRUN" $quiet -n $((cores + 1)) true
    expect_rc 0
    expect_err_lines 0
  done
  OSHRUN_QUIET=1 run 20 "$OSHRUN" -n $((cores + 1)) true
  expect_err_lines 0
  OSHRUN_QUIET=0 run 20 "$OSHRUN" -n $((cores + 1)) true
  expect_err_lines 2
  # There is no note if one PE attaches, for a job of one PE, or after a failure.
  run 20 "$OSHRUN" -n 1 "$PROBE" join : -n 1 true
  grep -Eq "$absent" err && die "a PE had joined the job"
  run 20 "$OSHRUN" -n 1 true
  expect_err_lines 0
  run 20 "$OSHRUN" -n 2 sh -c 'exit 3'
  grep -Eq "$absent" err && die "a failed job has a line of its own"
  return 0
}
case_arguments_are_kept() {
  run 10 "$OSHRUN" --oversubscribe --allow-run-as-root -np 1 printf '%s|' -n 'a b' -x '' '*'
  expect_rc 0
  expect_out '-n|a b|-x||*|'
}
# What Open MPI's, Hydra's and Slurm's users type: it means the same here, or has no effect, which is reported.
case_options_of_other_launchers() {
  accepted() {  # PES WORDS...: the options are accepted without a word, and start that many PEs
    count=$1
    shift
    run 10 "$OSHRUN" "$@" sh -c 'echo "$A"'
    [ "$rc" = 0 ] && [ "$(wc -l <out)" = "$count" ] || die "oshrun $*: not $count PEs"
    expect_err_lines 0
  }
  for words in '-c 3' '-N 3' '-npernode 3' '--npernode 3' '-N3' '-c3' '--ntasks=3' '--ntasks-per-node=3' '-perhost 3' \
    '--map-by ppr:3:node' '-map-by ppr:3:node:oversubscribe'; do
    accepted 3 $words
  done
  accepted 1 -pernode
  accepted 2 -n 2 --map-by node --rank-by slot --map-by core:OVERSUBSCRIBE --kill-on-bad-exit=1 -u -genvall --nodes=1 --stdin 0
  accepted 2 -n 2 --cpu-bind=none
  accepted 2 -n 2 --bind-to package:overload-allowed
  expect_out "$(printf '\n\n')"

  export A=outside
  run 10 "$OSHRUN" -genv A all -genv B 'b c' -env A mine -n 1 sh -c 'echo "$A $B"' : -n 1 sh -c 'echo "$A $B"'
  expect_sorted "$(printf 'all b c\nmine b c')"
  run 10 "$OSHRUN" --export=ALL,A=slurm -n 1 sh -c 'echo "$A"'
  expect_out slurm
  run 10 "$OSHRUN" -D / -n 1 pwd
  expect_out /
  run 10 "$OSHRUN" --label -n 1 echo x
  expect_out '[0] x'

  OSHRUN_QUIET=0 run 10 "$OSHRUN" -n 1 --mca btl self,tcp --map-by socket -iface eth0 -p batch -c 4 --prefix=/opt printf '%s ' --mca x
  expect_rc 0
  expect_out '--mca x '
  expect_err '^oshrun: info: no effect here: --mca btl self,tcp \(Open MPI\), --map-by socket \(Open MPI\), -iface eth0 \(Hydra\), -p batch \(Slurm\), -c 4 \(Slurm\), --prefix=/opt \(Open MPI\) '
  expect_err_lines 1
  run 10 "$OSHRUN" -q -n 1 -mca btl self true
  expect_err_lines 0

  while read -r whose words; do
    run 10 "$OSHRUN" -n 1 $words true
    expect_rc 2
    expect_err "^oshrun: .*\\($whose\\) has no counterpart here; "
    expect_err_lines 1
  done <<'EOF'
Open.MPI --output-filename out
Open.MPI --map-by ppr:2:socket
Open.MPI --enable-recovery
Open.MPI --stdin all
Hydra -configfile parts
Hydra -genvnone
Slurm -o out
Slurm --time=10
Slurm --nodes 2
Slurm --export=NONE
EOF
  for words in '--mca' '--mca btl' '-genv A' '-N'; do
    run 10 "$OSHRUN" -n 1 $words
    expect_rc 2
    expect_err "^oshrun: ${words%% *} needs "
    expect_err_lines 1
  done
}
case_singleton() {
  run 10 "$PROBE" attach hello finalize
  expect_rc 0
  expect_out 'pe 0 of 1 via single'
  # The shell of a batch job: no step, so it has not been launched.
  run 10 env SLURM_NTASKS=4 SLURM_PROCID=0 ENVIRONMENT=BATCH "$PROBE" attach hello finalize
  expect_out 'pe 0 of 1 via single'
}
case_wrong_launcher() {
  for seen in OMPI_COMM_WORLD_SIZE=4 PMI_SIZE=4 MPI_LOCALNRANKS=4 FLUX_JOB_SIZE=4 PMIX_RANK=1 'SLURM_NTASKS=4 SLURM_PROCID=0 SLURM_STEP_ID=0'; do
    run 10 env $seen "$PROBE" attach hello
    expect_rc 77
    expect_err "started by .*${seen%% *}.*none of its start-up interfaces answers. Tried: .*Start the program with 'oshrun -n"
    expect_err_lines 1
  done
  run 10 env PMI_FD=9 PMI_RANK=0 PMI_SIZE=2 "$PROBE" attach hello
  expect_rc 77
  expect_err 'PMI_FD=9 is not an open socket'
}
# The environment of tasks of srun --mpi=none, without Slurm.
case_slurm_without_interface() {
  step() {  # TASKS SECOND_OF_LATE_TASK ARGUMENTS...: exit statuses in rcs
    tasks=$1
    late=$2
    shift 2
    : >out
    : >rcs
    for task in $(seq 0 $((tasks - 1))); do
      (
        [ "$task" = "$late" ] && sleep 1.5
        timeout -k 2 40 env SLURM_NTASKS="$tasks" SLURM_STEP_NUM_TASKS="$tasks" SLURM_STEP_NUM_NODES="$nodes" \
          SLURM_JOB_ID=$$ SLURM_STEP_ID=0 SLURM_PROCID="$task" "$PROBE" "$@" >>out 2>>err
        echo $? >>rcs
      ) &
    done
    wait
  }
  nodes=1
  for n in 2 5; do
    for late in none 0 1; do
      step $n $late attach hello nodes finalize
      [ "$(sort -u rcs)" = 0 ] || die "$n tasks, late is $late: a task failed"
      [ "$(grep -c " of $n via slurm" out)" = $n ] || die "$n tasks, late is $late: not all said hello"
      [ "$(grep -c " on node 0 of 1, $n PEs" out)" = $n ] || die "$n tasks, late is $late: not one node"
    done
  done
  nodes=2
  step 2 none attach hello
  [ "$(sort -u rcs)" = 77 ] || die "tasks on two nodes did not fail"
  expect_err 'on several nodes its tasks need srun --mpi=pmi2 or --mpi=pmix'
}
case_stale_environment() {
  run 10 env SHMEMX_JOB_FD=9 SHMEMX_JOB_PE=0 SHMEMX_JOB_SIZE=2 SHMEMX_JOB_ID=1 "$PROBE" attach hello
  expect_rc 77
  expect_err 'SHMEMX_JOB_\* variables are set, but not by an oshrun that started this process'
  run 10 "$OSHRUN" -n 1 env SHMEMX_JOB_ID=abc "$PROBE" attach hello
  expect_rc 77
  expect_err 'arena of another job'
  run 10 env SHMEMX_JOB_PE=0 "$PROBE" attach hello
  expect_rc 77
}
# Creates launchers that write their name, arguments and environment to the file "called".
fake_launchers() {
  mkdir -p fake
  for name in "$@"; do
    cat >"fake/$name" <<END
#!/bin/sh
[ "\$1" = --version ] && { echo "$name (Open MPI) 5.0"; exit 0; }
echo "$name" "\$*" "| A=\$A |" >"$dir/called"
exit 3
END
    chmod +x "fake/$name"
  done
}
# hands_over EXPECTED ARGUMENTS...: oshrun calls a launcher as expected; only the fake ones are in PATH
hands_over() {
  expected=$1
  shift
  rm -f called
  run 10 env PATH="$dir/fake" "$OSHRUN" "$@"
  expect_rc 3
  [ "$(cat called)" = "$expected" ] || die "called: '$(cat called)', expected '$expected'"
}
case_several_hosts_need_a_launcher() {
  mkdir fake
  run 10 env PATH="$dir/fake" "$OSHRUN" -n 2 -hosts a.invalid,b.invalid true
  expect_rc 1
  expect_err '^oshrun: jobs over several hosts need mpiexec.hydra \(package mpich\), srun .*; none was found in PATH$'
  expect_err_lines 1
  for _ in $(seq 60); do  # threads that look up names must not crash when oshrun ends
    PATH="$dir/fake" "$OSHRUN" -n 2 -hosts 192.0.2.1,192.0.2.2 true 2>>repeated
    [ $? = 1 ] || die "oshrun ended with another status than 1"
  done
  for launcher in hydra srun mpirun; do
    run 10 env PATH="$dir/fake" "$OSHRUN" -n 2 --launcher $launcher -hosts a.invalid true
    expect_rc 1
    expect_err '^oshrun: .* found in PATH$'
    expect_err_lines 1
  done
}
case_hydra_gets_the_options() {
  fake_launchers mpiexec.hydra srun prterun
  hands_over 'mpiexec.hydra -hosts 192.0.2.1,192.0.2.2 -n 4 prog x y | A= |' -n 4 -hosts 192.0.2.1,192.0.2.2 prog x y
  hands_over 'mpiexec.hydra -hosts 192.0.2.1:2,192.0.2.2:1 -n 3 prog | A= |' -hosts=192.0.2.1:2,192.0.2.2:1 prog
  hands_over 'mpiexec.hydra -hosts 192.0.2.1:3,192.0.2.2:3 -n 6 prog | A= |' -ppn 3 -host 192.0.2.1,192.0.2.2 prog
  printf '# two\n192.0.2.1 slots=2\n\n192.0.2.2:5 # five\n192.0.2.3 max-slots=9\n' >hosts
  for option in -hostfile --hostfile -f -machinefile; do
    hands_over 'mpiexec.hydra -hosts 192.0.2.1:2,192.0.2.2:5,192.0.2.3 -n 8 prog | A= |' $option hosts prog
  done
  hands_over 'mpiexec.hydra -hosts 192.0.2.1 -prepend-rank -bind-to core -wdir /d -env A x=y z -n 2 prog : -n 1 other | A= |' \
    -H 192.0.2.1 -l --bind-to core -wdir /d -x 'A=x=y z' -n 2 prog : -n 1 other
}
# Options of the launcher that the job is passed to reach it; those of another one are reported, or refused.
case_options_are_passed_on() {
  export OSHRUN_QUIET=0
  fake_launchers mpiexec.hydra
  hands_over 'mpiexec.hydra -iface eth0 -launcher rsh -hosts 192.0.2.1,192.0.2.2 -env A 1 -n 2 prog --mca | A= |' \
    -iface eth0 --mca btl tcp -launcher rsh -genv A 1 -map-by node -hosts 192.0.2.1,192.0.2.2 -n 2 prog --mca
  expect_err '^oshrun: info: no effect here: --mca btl tcp \(Open MPI\), -map-by node \(Open MPI\) '
  run 10 env PATH="$dir/fake" "$OSHRUN" -hosts 192.0.2.1 --output-filename x -n 1 prog
  expect_rc 1
  expect_err 'output-filename x \(Open MPI\) has no counterpart'
  rm -r fake
  fake_launchers srun
  hands_over 'srun --mpi=pmi2 --ntasks=2 --kill-on-bad-exit=1 -p batch --mpi=pmix prog | A= |' \
    --launcher srun -p batch --mpi=pmix -n 2 prog
  rm -r fake
  fake_launchers prterun
  run 10 env PATH="$dir/fake" "$OSHRUN" --launcher mpirun --mca btl tcp --output-filename x --map-by node -n 2 prog
  expect_rc 3
  grep -q "^prterun --mca btl tcp --output-filename x --map-by node .*-n 2 prog" called || die "called: $(cat called)"
  expect_err_lines 0
}
case_srun_gets_the_options() {
  fake_launchers srun prterun
  hands_over 'srun --mpi=pmi2 --ntasks=4 --kill-on-bad-exit=1 --nodelist=a.invalid,b.invalid --nodes=2 prog x | A= |' \
    -n 4 --launcher srun -hosts a.invalid,b.invalid prog x
  export SLURM_JOB_ID=1
  hands_over 'srun --mpi=pmi2 --ntasks=4 --kill-on-bad-exit=1 --nodelist=a.invalid,b.invalid --nodes=2 --ntasks-per-node=2 --label --chdir=/d prog | A=1 |' \
    -l -x A=1 -wdir /d -hosts a.invalid:2,b.invalid:2 prog
  hands_over 'srun --mpi=pmi2 --ntasks=3 --kill-on-bad-exit=1 --nodelist=a.invalid,a.invalid,b.invalid --distribution=arbitrary prog | A= |' \
    -hosts a.invalid:2,b.invalid:1 prog
  run 10 env PATH="$dir/fake" "$OSHRUN" --launcher srun -n 1 prog : -n 1 other
  expect_rc 1
  expect_err '^oshrun: srun runs one program in a job'
}
case_open_mpi_gets_the_options() {
  export SHMEM_SYMMETRIC_SIZE=64M LD_LIBRARY_PATH=/l
  unset SHMEM_DEBUG SHMEMX_NODE_PATH
  root=
  [ "$(id -u)" = 0 ] && root='--allow-run-as-root '
  fake_launchers prterun
  run 10 env PATH="$dir/fake" "$OSHRUN" -n 3 -l -wdir /d -x A=1 -hosts 192.0.2.1:2,192.0.2.2 prog x
  expect_rc 3
  grep -q "^prterun $root--oversubscribe --host 192.0.2.1:2,192.0.2.2 --tag-output --bind-to none --wdir /d -x A=1 .*-n 3 prog x | A= |\$" called ||
    die "called: $(cat called)"
  for name in SHMEM_SYMMETRIC_SIZE LD_LIBRARY_PATH PATH; do
    grep -q -e " -x $name " called || die "$name is not exported: $(cat called)"
  done
  rm -r fake
  fake_launchers mpirun
  run 10 env PATH="$dir/fake" "$OSHRUN" -n 1 -hosts 192.0.2.1 prog
  expect_rc 3
  sed -i 's/Open MPI/something else/' fake/mpirun
  run 10 env PATH="$dir/fake" "$OSHRUN" -n 1 -hosts 192.0.2.1 prog
  expect_rc 1
}
case_names_are_looked_up_first() {
  fake_launchers mpiexec.hydra srun prterun
  printf 'localhost\nnowhere.invalid slots=2\n' >hosts
  for option in '-host nowhere.invalid' '-hosts localhost,nowhere.invalid' '-hostfile hosts' '--launcher mpirun -host nowhere.invalid'; do
    run 10 env PATH="$dir/fake" "$OSHRUN" $option -n 1 true
    expect_rc 1
    expect_err "^oshrun: host 'nowhere.invalid' is not known here: .*; allowed are names and addresses "
    expect_err_lines 1
    [ ! -e called ] || die "a launcher was called: $(cat called)"
  done
  # Names are not looked up if a resource manager or another start command may know them.
  for variable in SLURM_JOB_ID=1 PBS_JOBID=1 HYDRA_LAUNCHER_EXEC=/my/agent; do
    run 10 env PATH="$dir/fake" $variable "$OSHRUN" -host nowhere.invalid -n 1 prog
    expect_rc 3
    grep -q '^mpiexec.hydra -hosts nowhere.invalid ' called || die "$variable: called: $(cat called)"
  done
  OMPI_MCA_plm_rsh_agent=/my/agent hands_over_starts 'prterun ' --launcher mpirun -host nowhere.invalid -n 1 prog
  hands_over_starts 'srun ' --launcher srun -host nowhere.invalid -n 1 prog
  # A name that the user's configuration of ssh defines.
  for known in 'hostname 192.0.2.7' 'proxyjump gate' 'proxycommand none'; do
    printf '#!/bin/sh\necho hostname nowhere.invalid\necho "%s"\n' "$known" >fake/ssh
    chmod +x fake/ssh
    rm -f called
    run 10 env PATH="$dir/fake" "$OSHRUN" -host nowhere.invalid -n 1 prog
    case $known in
      *none) expect_rc 1 ;;
      *) expect_rc 3 ;;
    esac
  done
}
hands_over_starts() {  # BEGINNING ARGUMENTS...
  beginning=$1
  shift
  rm -f called
  run 10 env PATH="$dir/fake" "$OSHRUN" "$@"
  expect_rc 3
  grep -q "^$beginning" called || die "called: '$(cat called)', expected '$beginning...'"
}
case_names_without_an_answer_are_given_up() {
  need ip perl
  unshare -rnm true 2>/dev/null || skip 'namespaces are not allowed'
  fake_launchers mpiexec.hydra
  printf 'nameserver 127.0.0.1\noptions timeout:30 attempts:3\n' >resolv.conf
  echo 'hosts: files dns' >nsswitch.conf
  cat >inside <<'END'
ip link set lo up && mount --bind resolv.conf /etc/resolv.conf && mount --bind nsswitch.conf /etc/nsswitch.conf || exit 77
perl -MSocket -e 'socket(S, PF_INET, SOCK_DGRAM, 0); bind(S, sockaddr_in(53, INADDR_LOOPBACK)) or exit 1;
                  open(F, ">mute"); close(F); sleep(60)' &
mute=$!
for _ in $(seq 100); do [ -e mute ] && break; sleep 0.1; done
PATH=$PWD/fake timeout -k 1 20 "$OSHRUN" -hosts host-a.example,host-b.example,host-c.example -n 1 true
rc=$?
kill $mute
exit $rc
END
  sed -i "s|timeout -k|$(command -v timeout) -k|" inside
  run 40 unshare -rnm sh ./inside
  [ "$rc" != 77 ] || skip 'files cannot be mounted'
  expect_rc 1
  expect_err "^oshrun: host 'host-a.example' is not known here: no answer within 5 s; "
  expect_err_lines 1
}
case_this_host_needs_no_launcher() {
  mkdir fake
  for hosts in localhost 127.0.0.1:2 "$(hostname),localhost"; do
    run 10 env PATH="$dir/fake" "$OSHRUN" -n 2 -hosts "$hosts" "$PROBE" attach hello finalize
    expect_rc 0
    expect_sorted "$(printf 'pe 0 of 2 via oshrun\npe 1 of 2 via oshrun')"
  done
  run 10 "$OSHRUN" -hosts localhost:3 "$PROBE" attach hello finalize
  expect_rc 0
  [ "$(grep -c ' of 3 via oshrun' out)" = 3 ] || die "not three PEs"
}
case_handed_over_to_hydra() {
  need mpiexec.hydra
  mkdir sub
  run 30 "$OSHRUN" --launcher hydra -n 3 -hosts localhost -x A=set -wdir "$dir/sub" "$PROBE" attach hello @0 env A @0 cwd finalize
  expect_rc 0
  [ "$(grep -c ' of 3 via pmi1' out)" = 3 ] || die "not three PEs over PMI-1"
  grep -q '^set$' out || die "the variable is not set"
  grep -q '/sub$' out || die "not in the directory"
  run 30 "$OSHRUN" --launcher hydra -n 2 --timeout 1 -hosts localhost "$PROBE" attach wait shmem_quiet
  expect_rc 124
  # A job inside a job: these PEs must ignore the variables of the outer one.
  run 30 "$OSHRUN" -n 1 "$OSHRUN" --launcher hydra -n 2 -hosts localhost "$PROBE" attach hello finalize
  expect_rc 0
  [ "$(grep -c ' of 2 via pmi1' out)" = 2 ] || die "not two PEs over PMI-1"
}
case_handed_over_to_open_mpi() {
  need mpirun.openmpi
  run 30 "$OSHRUN" --launcher mpirun -n 3 -hosts localhost -x A=set "$PROBE" attach hello @0 env A finalize
  expect_rc 0
  [ "$(grep -c ' of 3 via pmix' out)" = 3 ] || die "not three PEs over PMIx"
  grep -q '^set$' out || die "the variable is not set"
}
# oshrun stays above the launcher: it shows what the PEs do, at a signal and when the time is up.
case_other_launchers_show_what_pes_do() {
  need mpiexec.hydra
  timeout 60 "$OSHRUN" --launcher hydra -n 3 -hosts localhost "$PROBE" attach print ready @1 wait shmem_quiet \
    wait shmem_barrier_all >out 2>err &
  wait_for out ready 3
  oshrun=$(child_of $!)
  wait_for_status $oshrun '^pe 0, 2 (pid [0-9]*, [0-9]*): waiting in shmem_barrier_all$' \
    '^pe 1 (pid [0-9]*): waiting in shmem_quiet$' '^pe 1 is the only one that is not in shmem_barrier_all$'
  pe=$(sed -n 's/^pe 1 (pid \([0-9]*\)).*/\1/p' status)
  wait_for_status "$pe" '^pe 1 is the only one'  # by a PE
  kill -s QUIT $oshrun
  wait_for err 'is the only one' 1
  kill -0 "$pe" || die "SIGQUIT has ended the job"
  kill -s TERM $oshrun
  wait $!
  expect_err '^oshrun: pe 0, 2 \(pid [0-9]*, [0-9]*\): waiting in shmem_barrier_all$'
  run 60 "$OSHRUN" --launcher hydra -n 2 --timeout 3 -hosts localhost "$PROBE" attach wait shmem_quiet
  expect_rc 124
  expect_err '^oshrun: time limit of 3 s reached; job ended$'
  expect_err '^oshrun: pe 0, 1 \(pid [0-9]*, [0-9]*\): waiting in shmem_quiet$'
  timeout 60 "$OSHRUN" --launcher hydra -n 2 -hosts localhost sh -c 'echo ready; exec sleep 50' >out 2>err &
  wait_for out ready 2
  oshrun=$(child_of $!)
  kill -s QUIT $oshrun
  wait_for err 'no PE of this job runs below its launcher' 1
  kill -s TERM $oshrun
  wait $!
  return 0
}
# A launcher inside a process of oshrun's job, and the reverse: the PEs belong to the inner job.
# Each launcher inside has a folder of its own for its files: jobs of Open MPI that start at once fail to make a common one.
inside_and_around() {  # LAUNCHER...
  run 60 "$OSHRUN" -n 2 sh -c 'mkdir $$ && TMPDIR=$PWD/$$ "$@"' sh "$@" -n 3 "$PROBE" attach hello finalize
  expect_rc 0
  [ "$(wc -l <out)" = 6 ] || die "$1 inside a job: not two jobs of three PEs"
  for pe in 0 1 2; do
    [ "$(grep -c "^pe $pe of 3 via " out)" = 2 ] || die "$1 inside a job: no two PEs $pe of 3"
  done
  run 60 "$@" -n 2 "$OSHRUN" -n 3 "$PROBE" attach hello finalize
  expect_rc 0
  [ "$(grep -c " of 3 via oshrun$" out)" = 6 ] || die "oshrun inside $1: not two jobs of three PEs"
}
case_jobs_inside_jobs() {
  inside_and_around "$OSHRUN"
  # Started by a launcher without a usable interface, inside a job: an error, not a PE of the outer job.
  run 20 "$OSHRUN" -n 2 env PMI_SIZE=2 PMI_RANK=0 "$PROBE" attach hello finalize
  expect_rc 77
  expect_err 'started by a PMI launcher .*PMI_SIZE=2.*Tried: oshrun \(another launcher started this process inside its job\)'
  need mpiexec.hydra
  inside_and_around mpiexec.hydra
}
case_jobs_and_open_mpi() {
  need mpirun.openmpi
  inside_and_around mpirun.openmpi --allow-run-as-root --oversubscribe
}
# Also with the first PE, and with the last, starting three seconds late.
foreign() {
  for n in 2 5; do
    run 60 "$@" -n $n "$PROBE" attach hello finalize
    expect_rc 0
    [ "$(sort -u out | wc -l)" = $n ] || die "$n PEs did not say hello"
    [ "$(grep -c " of $n via $via" out)" = $n ] || die "not all came over $via"
  done
  run 60 "$@" -n 3 sh -c '[ "$'$rank'" = 0 ] && sleep 3; "$0" attach hello finalize' "$PROBE"
  expect_rc 0
  run 60 "$@" -n 3 sh -c '[ "$'$rank'" = 2 ] && sleep 3; "$0" attach hello finalize' "$PROBE"
  expect_rc 0
  run 60 "$@" -n 3 "$PROBE" attach @1 abort 9 wait shmem_barrier_all
  [ "$rc" != 0 ] || die "an aborted job ended with status 0"
  [ "$rc" -lt 124 ] || die "an aborted job did not end"
}
case_hydra() {
  need mpiexec.hydra
  via=pmi1 rank=PMI_RANK
  foreign mpiexec.hydra
}
case_open_mpi() {
  need mpirun.openmpi
  via=pmix rank=PMIX_RANK
  foreign mpirun.openmpi --allow-run-as-root --oversubscribe
}
case_only_loopback() {
  unshare -rn true 2>/dev/null || skip 'a network namespace is not allowed'
  run 20 unshare -rn "$OSHRUN" -n 2 "$PROBE" attach hello finalize
  expect_rc 0
  expect_sorted "$(printf 'pe 0 of 2 via oshrun\npe 1 of 2 via oshrun')"
}
case_other_network_namespaces() {  # each PE in its own: the abstract socket is not accessible
  need mpiexec.hydra
  unshare -n true 2>/dev/null || skip 'a network namespace is not allowed'
  run 60 mpiexec.hydra -n 3 unshare -n "$PROBE" attach hello finalize
  expect_rc 0
  [ "$(sort -u out | wc -l)" = 3 ] || die "three PEs did not say hello"
}
# Containers made of namespaces: each has a separate network and separate processes.
case_containers_are_nodes() {
  need mpiexec.hydra
  unshare -n -p --fork --mount-proc true 2>/dev/null || skip 'namespaces are not allowed'
  run 60 mpiexec.hydra -n 3 unshare -n -p --fork --mount-proc --kill-child "$PROBE" attach nodes why job exchange 32768 finalize
  expect_rc 0
  for pe in 0 1 2; do
    grep -q "^pe $pe on node $pe of 3, 1 PEs$" out || die "pe $pe is not alone on node $pe"
  done
  [ "$(grep -c 'in containers, each with its own network and process numbers$' out)" = 3 ] || die "not all print the reason"
  [ "$(grep '^job' out | sort -u | wc -l)" = 1 ] || die "the nodes have different job numbers or secrets"
  [ "$(grep -c 'exchange right' out)" = 3 ] || die "wrong data were exchanged"
  # Even PEs outside, odd ones in one container.
  : >ready
  unshare -n -p --fork --mount-proc --kill-child sh -c 'echo ready >ready; exec sleep 60' 2>err &
  container=$!
  wait_for ready ready 1
  inside=$(child_of $container)
  run 60 mpiexec.hydra -n 5 sh -c '
    inside=$1
    shift
    [ $((PMI_RANK % 2)) = 0 ] && exec "$@"
    exec nsenter -t "$inside" -n -p -m --wdns="$PWD" "$@"' sh "$inside" "$PROBE" attach nodes exchange 5000 finalize
  kill -9 "$inside"
  expect_rc 0
  for pe in 0 2 4; do grep -q "^pe $pe on node 0 of 2, 3 PEs$" out || die "pe $pe is not on node 0"; done
  for pe in 1 3; do grep -q "^pe $pe on node 1 of 2, 2 PEs$" out || die "pe $pe is not on node 1"; done
  [ "$(grep -c 'exchange right' out)" = 5 ] || die "wrong data were exchanged"
}
# With a /dev/shm and a folder for temporary files that nobody else uses.
case_nothing_left_behind() {
  if [ -z "${LAUNCH_ALONE:-}" ] && unshare -rm mount -t tmpfs shmemx-test /dev/shm 2>/dev/null; then
    cd /
    rm -rf "$dir"
    LAUNCH_ALONE=1 exec unshare -rm sh -c 'mount -t tmpfs shmemx-test /dev/shm && exec sh "$@"' sh "$script" nothing_left_behind
  fi
  [ -n "${LAUNCH_ALONE:-}" ] || skip 'mount namespaces are not allowed, and other programs use /dev/shm'
  mkdir temporary
  export TMPDIR="$dir/temporary"
  run 10 "$OSHRUN" -n 3 "$PROBE" attach finalize
  expect_rc 0
  run 10 "$OSHRUN" -n 3 "$PROBE" attach @1 signal 9 wait shmem_barrier_all
  expect_rc 137
  left=$(ls -A /dev/shm "$TMPDIR" | grep -v -e ':$' -e '^$')
  [ -z "$left" ] || die "files were left behind: $left"
}

run_case "$@"
