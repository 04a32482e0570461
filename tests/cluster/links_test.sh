#!/bin/sh
# links_test.sh VHOSTS LINKS_PE [NETWORK]: when all links of a host are cut, the job ends with a line that names a PE of it and the
# cause of each path. NETWORK: ethernet, or ucx or ofi with tcp behind it, whose cause stands in the line, too.
. "$(dirname "$0")/../support/script.sh"
vhosts=$1
program=$2
network=${3-}
networks=${network:+$network,}tcp
if [ "$network" = ethernet ]; then networks=ethernet; fi
export SHMEMX_NET_TIMEOUT=3 SHMEMX_TRANSPORT="$networks" UCX_NET_DEVICES=eth0 FI_NET_IFACE=eth0 FI_TCP_IFACE=eth0

run 50 "$vhosts" run --hosts 2 --networks 2 --pes 1 --timeout 40 --no-watch -- "$program" both
cat out err
case $rc in
  77) skip 'virtual hosts are not allowed' ;;
  0 | 124 | 99) die "the job ended with status $rc" ;;
esac
peer='PE [01] on (host )?h[01]'  # both sides notice it
mac='[0-9a-f:]*'
paths='eth0 -> 10\.77\.0\.[12]:[0-9]*: [A-Z];eth1 -> 10\.78\.0\.[12]:[0-9]*: [A-Z]'
if [ "$network" = ethernet ]; then
  paths="eth0 -> $mac: [A-Z];eth1 -> $mac: [A-Z]"
elif [ -n "$network" ]; then
  cat out err | grep -Eq "$peer is lost: $network: .*; tcp: " || die "no line names the causes of $network and tcp"
fi
IFS=';'
for path in $paths; do
  cat out err | tr '\n' ' ' | grep -Eq "$peer .*$path" || die "no line names the cause of $path"
done
