#!/usr/bin/env bash
# Shows a job over several hosts on this one machine: two virtual hosts with two PEs each, made of namespaces, between
# which only the network connects. The programs are the examples, unchanged.
#
# Usage: examples/cluster.sh [build folder]
# Needs root's rights, or a system that allows user namespaces. SHMEMX_TRANSPORT=tcp|ucx|ofi chooses the network.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${1:-$root/build}
vhosts=$build/tests/bin/vhosts

if [ $# -eq 0 ]; then
  "$root/cmake/install_packages.sh" build
  if ! ninja -C "$build" -t query vhosts gups >/dev/null 2>&1; then
    echo "Configuring in $build"
    mkdir -p "$build"
    (cd "$root" && cmake --preset release -DSHMEMX_BUILD_TESTS=OFF -DSHMEMX_BUILD_EXAMPLES=ON) >"$build/configure.log" 2>&1 || {
      cat "$build/configure.log" >&2
      exit 1
    }
  fi
  # All of it: also the networks that are loaded at run time.
  cmake --build "$build"
fi

# 77 is the status of a skipped test.
if ! why=$("$vhosts" run --hosts 2 -- true 2>&1); then
  if [ "${why#skipped: }" = "$why" ]; then
    echo "cluster.sh: $why" >&2
    exit 1
  fi
  echo "This machine does not let you make virtual hosts: ${why#skipped: }." >&2
  echo "Run it as root. What it would show runs without rights, too, on nodes that only pretend:" >&2
  echo "  SHMEMX_PES_PER_NODE=2 $build/bin/oshrun -n 4 $build/examples/hello" >&2
  exit 77
fi

on_two_hosts() {
  "$vhosts" run --hosts 2 --pes 2,2 "$@"
}

printf '== Two hosts, PEs 0 and 1 on the first\n'
# shellcheck disable=SC2016
on_two_hosts -- sh -c 'echo "PE $PMI_RANK of $PMI_SIZE: $(hostname), boot id $(cut -c 1-8 /proc/sys/kernel/random/boot_id)"' | sort

printf '\n== Hello: who greets whom, and over which network\n'
SHMEM_INFO=peers on_two_hosts -- "$build/examples/hello"

printf '\n== Parallel integer sort\n'
on_two_hosts -- "$build/examples/isort"

printf '\n== The same over a bad network: half a percent of the packets lost, some twice, some late\n'
on_two_hosts --loss 0.5 --duplicate 1 --reorder 1 --delay 100 -- "$build/examples/isort" 100000

printf '\n== A host that fails: the job ends, and says why\n'
status=0
report=$(on_two_hosts --fault 'kill h1@300ms' -- "$build/examples/gups" 22 100000000 2>&1) || status=$?
echo "$report"
if [ "$status" -eq 0 ]; then
  echo "cluster.sh: the job outlived its host" >&2
  exit 1
fi
if ! grep -q 'h1' <<<"$report"; then
  echo "cluster.sh: the job ended with status $status and did not name the host" >&2
  exit 1
fi
printf '\nAll as it should be.\n'
