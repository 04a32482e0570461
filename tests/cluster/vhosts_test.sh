#!/bin/sh
# vhosts_test.sh VHOSTS VHOSTS_ENTER: virtual hosts are separate hosts, jobs on them end with the right status, and nothing
# is left on the machine.
. "$(dirname "$0")/../support/script.sh"
export vhosts="$1"
export enter="$2"

run 60 "$vhosts" run --hosts 1 -- true
[ "$rc" != 77 ] || skip "$(cat out err)"

# expect WHAT STATUS PATTERN COMMAND...: the command's status, and a line of its output
expect() {
  what=$1
  status=$2
  pattern=$3
  shift 3
  run 60 "$@"
  [ "$rc" = "$status" ] || die "$what: status $rc, expected $status"
  cat out err | grep -Eq "$pattern" || die "$what: no line matches '$pattern'"
}

# Programs cannot take two hosts for one machine.
for what in /proc/sys/kernel/random/boot_id /etc/hostname /proc/self/ns/net /proc/self/ns/ipc /proc/self/ns/pid \
  /proc/self/ns/uts; do
  show="cat $what"
  case $what in */ns/*) show="readlink $what" ;; esac
  expect "$what differs" 0 '^2$' sh -c "\"\$vhosts\" run --hosts 2 -- $show | sort -u | wc -l"
done
expect "/dev/shm is private" 0 '^0$' "$vhosts" shell --hosts 2 -- \
  sh -c 'touch /dev/shm/x; "$enter" h1 "ls /dev/shm | wc -l"; rm /dev/shm/x'

expect "PEs by blocks" 0 '^0h0 1h0 2h1 $' \
  sh -c "\"\$vhosts\" run --hosts 2 --pes 2,1 -- sh -c 'echo \$PMI_RANK\$(hostname)' | sort | tr '\n' ' '"
expect "PEs in turn" 0 '^0h0 1h1 2h0 $' \
  sh -c "\"\$vhosts\" run --hosts 2 --pes 2,1 --cyclic -- sh -c 'echo \$PMI_RANK\$(hostname)' | sort | tr '\n' ' '"
expect "output is labelled" 0 '^\[pe 1 on h1\] x$' "$vhosts" run --hosts 2 --label -- sh -c 'printf x'
expect "vhosts-enter passes streams and the exit code on" 7 '^h1 word$' \
  sh -c "echo word | \"\$vhosts\" shell --hosts 2 -- sh -c '\"\$enter\" -x h1 \"echo \\\$(hostname) \\\$(cat); exit 7\"'"
expect "MTU" 0 '^9000$' "$vhosts" run --mtu 9000 -- cat /sys/class/net/eth0/mtu
expect "a second network" 0 '172\.17\.0\.1/16' "$vhosts" run --ip 'link add docker0 type bridge' \
  --ip 'addr add 172.17.0.1/16 dev docker0' -- ip -4 addr

expect "a network of its own for each interface" 0 '10\.78\.0\.1/24' "$vhosts" run --networks 2 -- ip -4 addr show eth1
expect "a speed for each network" 0 '^30Mbit 400Mbit $' "$vhosts" run --networks 2 --rate 30mbit,400mbit --pes 1,0 -- \
  sh -c 'for i in 0 1; do tc qdisc show dev eth$i | sed "s/.* rate \([^ ]*\).*/\1/"; done | tr "\n" " "; echo'
expect "one of two links is cut" 0 '^carriers 10$' "$vhosts" shell --hosts 2 --networks 2 -- sh -c \
  "\"\$vhosts\" fault 'cut h0/1'; for i in \$(seq 50); do grep -q 0 /sys/class/net/eth1/carrier && break; sleep 0.2; done;
   echo carriers \$(cat /sys/class/net/eth0/carrier)\$(cat /sys/class/net/eth1/carrier)"

expect "an abnormal end ends the others" 3 'pe 1 on h1 ended: exit status 3' "$vhosts" run -- \
  sh -c '[ $PMI_RANK = 0 ] && sleep 50; exit 3'
expect "a signal ends the others" 137 'pe 2 on h1 ended: signal 9' "$vhosts" run --pes 2 --fault 'kill pe2@100ms' -- sleep 50
expect "the end of a host ends the others" 137 'pe 2 on h1 ended: host h1 died' "$vhosts" run --pes 2 --fault 'off h1@100ms' -- sleep 50
expect "a time-out" 124 'pe 0 on h0 is still there' "$vhosts" run --timeout 1 -- sleep 50
expect "files that are left are reported" 99 '/dev/shm/x' "$vhosts" run -- touch /dev/shm/x
expect "processes that are left are reported" 99 'sleep 50' "$vhosts" run -- sh -c 'sleep 50 >/dev/null 2>&1 &'
expect "with labels it does not wait for processes that are left" 99 'sleep 51' "$vhosts" run --label -- sh -c 'sleep 51 &'
expect "a program that does not exist" 127 'cannot run' "$vhosts" run -- /nowhere/at/all
expect "a cut link carries nothing" 0 '^carrier 0$' "$vhosts" shell --hosts 2 -- sh -c \
  "\"\$vhosts\" fault 'cut h0'; for i in \$(seq 50); do grep -q 0 /sys/class/net/eth0/carrier && break; sleep 0.2; done;
   echo carrier \$(cat /sys/class/net/eth0/carrier)"

# vhosts that is killed leaves no process and no mount.
marker=48213.$$
"$vhosts" run --hosts 3 --pes 2 --loss 1 -- sleep "$marker" &
victim=$!
for _ in $(seq 100); do
  [ "$(pgrep -cf "^sleep $marker\$")" -ge 6 ] && break
  sleep 0.1
done
[ "$(pgrep -cf "^sleep $marker\$")" -ge 6 ] || { kill -9 "$victim"; die 'the PEs did not start'; }
kill -9 "$victim"
wait "$victim" 2>/dev/null
for _ in $(seq 50); do
  pgrep -f "sleep $marker\$" >/dev/null || break
  sleep 0.1
done
pgrep -f "sleep $marker\$" >/dev/null && die 'programs outlive vhosts'
grep -q '^vhosts ' /proc/mounts && die 'a mount is left'
exit 0
