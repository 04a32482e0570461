#!/bin/bash
# Measures waiting and polling loops: alone on their cores, beside one and two programs that compute, with more PEs than
# cores, and between two pretended nodes. Beside them Open MPI's OSHMEM where it is installed.
#   bench/waiting/run.sh [milliseconds a case, default 300]
# One line for each case: setting, library, case, PEs, mean and best batch or median, in microseconds.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD_DIR:-build}") || exit 1
ms=${1:-300}
ours=$build/bench/ours/waiting
peer=$build/bench/waiting/waiting_oshmem
[ -x "$ours" ] || { echo "waiting/run.sh: build the target bench_ours_waiting first" >&2; exit 1; }
cores=$(nproc)
if [ -x /usr/bin/oshcxx ] && [ ! "$peer" -nt bench/waiting/waiting.cpp ]; then
  OMPI_CXX=g++ /usr/bin/oshcxx -O2 -std=c++20 bench/waiting/waiting.cpp -o "$peer" || rm -f "$peer"
fi

busy=()
end_busy() {
  [ ${#busy[@]} -eq 0 ] || { kill "${busy[@]}"; wait "${busy[@]}"; } 2>/dev/null
  busy=()
}
trap end_busy EXIT
# Programs that compute: a session each, as from other terminals. They end by themselves, too.
start_busy() {
  for ((i = 0; i < $1; i++)); do
    setsid timeout 120 bash -c 'while :; do :; done' &
    busy+=($!)
  done
  sleep 0.2
}

# measure SETTING BUSY_PROGRAMS PES CASE...
measure() {
  local setting=$1 count=$2 pes=$3 name
  shift 3
  start_busy "$count"
  for name in "$@"; do
    timeout 60 "$build/bin/oshrun" -q -n "$pes" "$ours" --ms "$ms" --case "$name" | sed "s/^/$setting,shmemx,/"
    if [ -x "$peer" ] && [ "${setting#nodes}" = "$setting" ]; then
      timeout 60 /usr/bin/oshrun --allow-run-as-root --oversubscribe --mca osc ^rdma -n "$pes" "$peer" --ms "$ms" \
        --case "$name" 2>/dev/null | sed "s/^/$setting,oshmem,/"
    fi
  done
  end_busy
}

echo "setting,library,case,pes,mean us,best or median us"
measure "own cores" 0 2 pingpong barrier wake
measure "one busy program" 1 2 pingpong barrier wake
measure "two busy programs" 2 2 pingpong barrier wake
measure "twice the cores" 0 $((2 * cores)) "ring" barrier polling
export SHMEMX_PES_PER_NODE=1
for count in 0 1 2; do
  measure "nodes, $count busy" $count 2 fetch_add pingpong wake
done
