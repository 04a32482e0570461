#!/usr/bin/env bash
# unreachable_test.sh VHOSTS PROGRAM: hosts between which nothing works. The job ends with a table of what was tried.
set -uo pipefail
vhosts=$1
program=$2

# expect PATTERN OPTIONS...: the job on such hosts fails, and says so in a line like that
expect() {
  local pattern=$1 output status
  shift
  output=$(SHMEMX_NET_TIMEOUT=3 SHMEMX_TRANSPORT=tcp timeout 100 "$vhosts" run --hosts 2 --no-ipv4 --no-ipv6 \
    --timeout 60 "$@" -- "$program" 2>&1)
  status=$?
  echo "$output"
  if [ "$status" -eq 77 ]; then exit 77; fi
  if [ "$status" -eq 0 ] || [ "$status" -eq 124 ] || [ "$status" -eq 99 ]; then
    echo "FAILED: the job ended with status $status"
    exit 1
  fi
  if ! grep -Eq "$pattern" <<<"$output"; then
    echo "FAILED: no line is like \"$pattern\""
    exit 1
  fi
}

# Local interface, remote address, and why not.
expect 'docker0.*172\.17\.0\.1.*[a-z]' --ip 'link add docker0 type bridge' \
  --ip 'addr add 172.17.0.1/16 dev docker0' --ip 'link set docker0 up'
expect 'it has no address'
