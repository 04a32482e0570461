# Sourced by the test scripts: a scratch directory as the working directory, a command's status and output, and checks
# of them. A script with several cases defines functions named case_* and ends with run_case "$@".
set -u
export OSHRUN_QUIET=1  # oshrun's notes depend on the number of cores
unset SHMEMX_JOB_FD SHMEMX_JOB_PE SHMEMX_JOB_SIZE SHMEMX_JOB_ID SLURM_JOB_ID  # launchers must not see a job around the test
ulimit -S -c 0  # PEs are killed on purpose

dir=$(mktemp -d) || exit 1
clean_up() { :; }  # a script may define it anew
trap 'clean_up; cd /; rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# ---- Ends of a test ----
die() {
  echo "FAILED: $*" >&2
  echo "--- status ${rc:-none}; stdout" >&2; head -c 4000 out >&2 2>/dev/null
  echo "--- stderr" >&2; head -c 4000 err >&2 2>/dev/null
  exit 1
}
skip() {
  echo "skipped: $*"
  exit 77
}
need() {  # PROGRAM...
  for program in "$@"; do
    command -v "$program" >/dev/null 2>&1 || skip "$program is not installed"
  done
}
run_case() {
  type "case_$1" >/dev/null || exit 1
  "case_$1"
  result=$?
  [ "$result" = 0 ] || exit "$result"
  echo "passed: $1"
}

# ---- A command ----
# run LIMIT COMMAND...: status in $rc, output in out and err
run() {
  limit=$1
  shift
  timeout -k 2 "$limit" "$@" >out 2>err </dev/null
  rc=$?
}
expect_rc() { [ "$rc" = "$1" ] || die "status $rc, expected $1"; }
expect_out() { [ "$(cat out)" = "$1" ] || die "stdout is not '$1'"; }
expect_sorted() { [ "$(sort out)" = "$1" ] || die "sorted stdout is not '$1'"; }
expect_err() { grep -Eq -- "$1" err || die "stderr has no line like '$1'"; }
expect_err_lines() { [ "$(wc -l <err)" = "$1" ] || die "stderr has not $1 lines"; }

# ---- Processes ----
wait_for() {  # FILE PATTERN COUNT: until FILE has COUNT lines with PATTERN
  for _ in $(seq 200); do
    count=$(grep -c "$2" "$1" 2>/dev/null)
    [ "${count:-0}" -ge "$3" ] && return
    sleep 0.05
  done
  die "$1 has not $3 lines with '$2' after ten seconds"
}
state_of() { sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null; }  # PID: R, S, T, Z...; nothing if there is none
is_running() {  # PID; a zombie is not
  state=$(state_of "$1")
  [ -n "$state" ] && [ "$state" != Z ]
}
