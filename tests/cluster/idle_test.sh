#!/bin/sh
# idle_test.sh VHOSTS FAILURE_PE: PEs that exchange nothing notice a cut link within the time-out, and a moment for reports of
# others, and not in twice that time.
. "$(dirname "$0")/../support/script.sh"
vhosts=$1
program=$2
timeout=6
export SHMEMX_NET_TIMEOUT=$timeout SHMEMX_TRANSPORT=tcp

timeout -k 2 90 "$vhosts" run --hosts 2 --pes 1 --timeout 80 --no-watch -- "$program" wait_until 'cut h1' >out 2>err </dev/null &
job=$!
while is_running $job && ! grep -q 'the fault comes' out; do sleep 0.1; done
begin=$(date +%s)
wait $job
rc=$?
seconds=$(($(date +%s) - begin))
cat out err
case $rc in
  77) skip 'virtual hosts are not allowed' ;;
  0 | 124 | 99) die "the job ended with status $rc" ;;
esac
cat out err | grep -Eq 'PE [01] on host h[01] is lost: no answer for 6 s' || die 'no line names the PE and the cause'
[ "$seconds" -lt $((2 * timeout)) ] || die "the cut link was noticed after $seconds s"
