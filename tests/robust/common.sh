# Shared by the robustness tests, which source this. Needs OSHRUN, PES (folder of the programs), and OSHCC where a case
# compiles something.
. "$(dirname "$0")/../support/script.sh"
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-  # descriptors of the test driver would count against limits
pe=$PES/robust_pe

# As in script.sh, but through pipes: limits on file sizes must not truncate the output.
run() {
  limit=$1
  shift
  { { timeout -k 2 "$limit" "$@" </dev/null 3>&-; echo $? >status; } 2>&1 1>&3 | cat >err; } 3>&1 | cat >out
  rc=$(cat status)
}
expect_ok() {
  [ "$rc" = 0 ] || die "$1: status $rc"
  grep -q '^ok' out || die "$1: no line that begins with ok"
}
# Checks that the job failed with messages that contain all patterns, and not by a signal.
expect_refusal() {
  what=$1
  shift
  [ "$rc" != 0 ] || die "$what: should have failed"
  expect_no_crash "$what"
  for words in "$@"; do
    grep -Eqi -- "$words" err || die "$what: no line contains '$words'"
  done
}
expect_no_crash() {
  [ "$rc" -le 127 ] && [ "$rc" != 124 ] || die "$1: status $rc"
  grep -Eq 'died of signal|Segmentation|Bus error|File size limit|terminate called' err && die "$1: a process crashed"
  return 0
}
# For jobs that may succeed or be refused with a reason; prints which.
expect_ok_or_refusal() {
  if [ "$rc" = 0 ]; then
    expect_ok "$1"
    echo "$1: works"
  else
    expect_refusal "$@"
    echo "$1: $(head -n 1 err)"
  fi
}
may_unshare() { unshare "$@" true 2>/dev/null; }  # OPTIONS...
