#!/bin/sh
# unreachable_test.sh VHOSTS PROGRAM: a job on hosts without connections ends with a list of the addresses that were tried.
. "$(dirname "$0")/../support/script.sh"
vhosts=$1
program=$2
export SHMEMX_NET_TIMEOUT=3 SHMEMX_TRANSPORT=tcp

# expect PATTERN OPTIONS...: the job fails, with a line that matches
expect() {
  pattern=$1
  shift
  run 100 "$vhosts" run --hosts 2 --no-ipv4 --no-ipv6 --timeout 60 "$@" -- "$program"
  cat out err
  case $rc in
    77) skip 'virtual hosts are not allowed' ;;
    0 | 124 | 99) die "the job ended with status $rc" ;;
  esac
  cat out err | grep -Eq "$pattern" || die "no line matches '$pattern'"
}

# Local interface, remote address, and the error.
expect 'docker0.*172\.17\.0\.1.*[a-z]' --ip 'link add docker0 type bridge' \
  --ip 'addr add 172.17.0.1/16 dev docker0' --ip 'link set docker0 up'
expect 'it has no address'
