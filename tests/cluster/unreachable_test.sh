#!/usr/bin/env bash
# unreachable_test.sh VHOSTS PROGRAM: hosts between which nothing works. The job ends with a table of what was tried.
set -uo pipefail
vhosts=$1
program=$2

output=$(SHMEMX_NET_TIMEOUT=3 SHMEMX_TRANSPORT=tcp timeout 100 "$vhosts" run --hosts 2 --no-ipv4 --no-ipv6 --timeout 60 \
  --ip 'link add docker0 type bridge' --ip 'addr add 172.17.0.1/16 dev docker0' --ip 'link set docker0 up' \
  -- "$program" 2>&1)
status=$?
echo "$output"
if [ "$status" -eq 77 ]; then exit 77; fi
if [ "$status" -eq 0 ] || [ "$status" -eq 124 ] || [ "$status" -eq 99 ]; then
  echo "FAILED: the job ended with status $status"
  exit 1
fi
# Local interface, remote address, and why not.
if ! grep -Eq 'docker0.*172\.17\.0\.1.*[a-z]' <<<"$output"; then
  echo "FAILED: what was tried is not listed"
  exit 1
fi
