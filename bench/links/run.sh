#!/bin/sh
# Two links between two virtual hosts, each of a limited rate, beside one; and the time that a cut link costs.
# bench/run.sh links calls it.
#   bench/links/run.sh <build folder>
# Prints the best of each row, and writes the same to <build folder>/bench/results_links.txt. BENCH_RATE: of a link.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$1
rounds=${BENCH_ROUNDS:-5}
rate=${BENCH_RATE:-300mbit}
out=$build/bench/links
vhosts=$build/tests/bin/vhosts
mkdir -p "$out"

c++ -O2 -std=c++20 -I"$here/../../include" "$here/links.cpp" -L"$build/lib" -Wl,-rpath,"$build/lib" -lshmemx -o "$out/links"
export SHMEMX_TRANSPORT="${SHMEMX_TRANSPORT:-tcp}"

# run NETWORKS WHAT: one job
run() {
  "$vhosts" run --hosts 2 --pes 1 --networks "$1" --rate "$rate" --timeout 60 -- "$out/links" "$2" | sed "s/^/$1 /"
}

: >"$out/rows"
round=0
while [ "$round" -lt "$rounds" ]; do
  for networks in 1 2; do run "$networks" rate >>"$out/rows"; done
  run 2 failover >>"$out/rows"
  round=$((round + 1))
done

awk -v rate="$rate" '
  { key = $2 " " $3; if (!((key, $1) in best) || $4 > best[key, $1]) best[key, $1] = $4 }
  END {
    printf "links of %s; best of each row\n", rate
    for (k = 1; k <= split("put 65536,put 4194304,get 4194304", keys, ","); ++k)
      printf "net_two_links  %-12s  one %8.2f MB/s  two %8.2f MB/s  %.2f\n", keys[k], best[keys[k], 1], best[keys[k], 2],
        best[keys[k], 2] / best[keys[k], 1]
    printf "net_failover   longest time without progress  %d ms (the worst of all rounds)\n", best["failover 8", 2]
  }' "$out/rows" | tee "$build/bench/results_links.txt"
