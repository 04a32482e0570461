#!/usr/bin/env bash
# vhosts_test.sh VHOSTS VHOSTS_ENTER: virtual hosts are hosts of their own, jobs on them end as they should, and nothing is
# left on the machine.
set -uo pipefail
vhosts=$1
export enter=$2
failures=0

out=$("$vhosts" run --hosts 1 -- true 2>&1)
if [ $? -eq 77 ]; then
  echo "$out"
  exit 77
fi

# expect WHAT STATUS PATTERN COMMAND...: the command's status, and a line of its output
expect() {
  local what=$1 status=$2 pattern=$3 output got
  shift 3
  output=$(timeout 60 "$@" 2>&1)
  got=$?
  if [ "$got" -ne "$status" ] || ! grep -Eq "$pattern" <<<"$output"; then
    printf 'FAILED: %s: status %s, wanted %s and a line like "%s"\n%s\n' "$what" "$got" "$status" "$pattern" "$output"
    failures=$((failures + 1))
  fi
}

# Two hosts have nothing in common that a program could take for one machine.
for what in /proc/sys/kernel/random/boot_id /etc/hostname /proc/self/ns/net /proc/self/ns/ipc /proc/self/ns/pid \
  /proc/self/ns/uts; do
  show="cat $what"
  case $what in */ns/*) show="readlink $what" ;; esac
  expect "$what differs" 0 '^2$' sh -c "'$vhosts' run --hosts 2 -- $show | sort -u | wc -l"
done
expect "/dev/shm is private" 0 '^0$' "$vhosts" shell --hosts 2 -- \
  sh -c 'touch /dev/shm/x; "$enter" h1 "ls /dev/shm | wc -l"; rm /dev/shm/x'

expect "PEs by blocks" 0 '^0h0 1h0 2h1 $' \
  sh -c "'$vhosts' run --hosts 2 --pes 2,1 -- sh -c 'echo \$PMI_RANK\$(hostname)' | sort | tr '\n' ' '"
expect "PEs in turn" 0 '^0h0 1h1 2h0 $' \
  sh -c "'$vhosts' run --hosts 2 --pes 2,1 --cyclic -- sh -c 'echo \$PMI_RANK\$(hostname)' | sort | tr '\n' ' '"
expect "output is labelled" 0 '^\[pe 1 on h1\] x$' "$vhosts" run --hosts 2 --label -- sh -c 'printf x'
expect "streams and the exit code pass through ssh's stand-in" 7 '^h1 word$' \
  sh -c "echo word | '$vhosts' shell --hosts 2 -- sh -c '\"\$enter\" -x h1 \"echo \\\$(hostname) \\\$(cat); exit 7\"'"
expect "MTU" 0 '^9000$' "$vhosts" run --mtu 9000 -- cat /sys/class/net/eth0/mtu
expect "a second network" 0 '172\.17\.0\.1/16' "$vhosts" run --ip 'link add docker0 type bridge' \
  --ip 'addr add 172.17.0.1/16 dev docker0' -- ip -4 addr

expect "a bad end ends the others" 3 'pe 1 on h1 ended: exit status 3' "$vhosts" run -- \
  sh -c '[ $PMI_RANK = 0 ] && sleep 50; exit 3'
expect "so does a signal" 137 'pe 2 on h1 ended: signal 9' "$vhosts" run --pes 2 --fault 'kill pe2@100ms' -- sleep 50
expect "so does the end of a host" 137 'pe 2 on h1 ended: host h1 died' "$vhosts" run --pes 2 --fault 'off h1@100ms' -- sleep 50
expect "a time-out is one" 124 'pe 0 on h0 is still there' "$vhosts" run --timeout 1 -- sleep 50
expect "what is left is seen" 99 '/dev/shm/x' "$vhosts" run -- touch /dev/shm/x
expect "processes that are left are seen" 99 'sleep 50' "$vhosts" run -- sh -c 'sleep 50 >/dev/null 2>&1 &'
expect "labels do not make it wait for what is left" 99 'sleep 51' "$vhosts" run --label -- sh -c 'sleep 51 &'
expect "a program that is not there" 127 'cannot run' "$vhosts" run -- /nowhere/at/all
expect "a cut link carries nothing" 0 '^carrier 0$' "$vhosts" shell --hosts 2 -- sh -c \
  "'$vhosts' fault 'cut h0'; for i in 1 2 3 4 5 6 7 8 9; do grep -q 0 /sys/class/net/eth0/carrier && break; sleep 0.2; done;
   echo carrier \$(cat /sys/class/net/eth0/carrier)"

# Killed in the middle, it leaves no process and no mount.
marker=48213.$$
"$vhosts" run --hosts 3 --pes 2 --loss 1 -- sleep "$marker" &
victim=$!
for _ in $(seq 100); do
  [ "$(pgrep -cf "^sleep $marker\$")" -ge 6 ] && break
  sleep 0.1
done
[ "$(pgrep -cf "^sleep $marker\$")" -ge 6 ] || { echo "FAILED: the PEs did not start"; failures=$((failures + 1)); }
kill -9 "$victim"
wait "$victim" 2>/dev/null
for _ in $(seq 50); do
  pgrep -f "sleep $marker\$" >/dev/null || break
  sleep 0.1
done
if pgrep -f "sleep $marker\$" >/dev/null; then
  echo "FAILED: programs outlive vhosts"
  failures=$((failures + 1))
fi
if grep -q '^vhosts ' /proc/mounts; then
  echo "FAILED: a mount is left"
  failures=$((failures + 1))
fi
exit $((failures > 0))
