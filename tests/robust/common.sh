# Shared by the robustness tests. A test script sources this, defines functions named case_*, and ends with
# run_case "$@". Needs OSHRUN, PES (folder of the programs) and OSHCC where a case compiles something.
set -u
export OSHRUN_QUIET=1  # notes depend on the machine's cores
unset SHMEMX_JOB_FD SHMEMX_JOB_PE SHMEMX_JOB_SIZE SHMEMX_JOB_ID
ulimit -S -c 0  # PEs die here on purpose
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-  # what the test driver had open would count against limits

dir=$(mktemp -d "${TMPDIR:-/tmp}/shmemx-robust-XXXXXX") || exit 1
trap 'cd /; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
pe=$PES/robust_pe

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
need() {
  for program in "$@"; do
    command -v "$program" >/dev/null 2>&1 || skip "$program is not installed"
  done
}
# run LIMIT COMMAND...: status in $rc, output in out and err. Through pipes, as limits on file sizes must not hit the messages.
run() {
  limit=$1
  shift
  { { timeout -k 2 "$limit" "$@" </dev/null 3>&-; echo $? >status; } 2>&1 1>&3 | cat >err; } 3>&1 | cat >out
  rc=$(cat status)
}
expect_ok() {
  [ "$rc" = 0 ] || die "$1: status $rc"
  grep -q '^ok' out || die "$1: no line that says ok"
}
# The job failed with a message that has all of the words, and not by a signal.
expect_refusal() {
  what=$1
  shift
  [ "$rc" != 0 ] || die "$what: should have failed"
  no_crash "$what"
  for words in "$@"; do
    grep -Eqi -- "$words" err || die "$what: no line says '$words'"
  done
}
no_crash() {
  [ "$rc" -le 127 ] && [ "$rc" != 124 ] || die "$1: status $rc"
  grep -Eq 'died of signal|Segmentation|Bus error|File size limit|terminate called' err && die "$1: a process crashed"
  return 0
}
# Says what a job did that is allowed to end either way, as long as it says why.
expect_ok_or_refusal() {
  if [ "$rc" = 0 ]; then
    expect_ok "$1"
    echo "$1: works"
  else
    expect_refusal "$@"
    echo "$1: $(head -n 1 err)"
  fi
}
# A private mount namespace is allowed?
may_unshare() { unshare "$@" true 2>/dev/null; }

run_case() {
  "case_$1"
  result=$?
  [ "$result" = 0 ] || exit "$result"
  echo "passed: $1"
}
