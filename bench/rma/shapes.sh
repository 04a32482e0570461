#!/bin/sh
# One-sided MPI in the shapes that programs use (shapes.cpp): MPICH and Open MPI, each under the interposer and alone, in
# turns, on this machine with 2 and 4 processes. bench/run.sh rma shapes calls it.
#   bench/rma/shapes.sh <build folder>
# Prints the median of each row in microseconds with the ratio of ours to the MPI alone, and the rows that are behind,
# worst first; writes the same to <build folder>/bench/results_rma_shapes.txt.
# BENCH_ROUNDS: how often each column has its turn.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$1
rounds=${BENCH_ROUNDS:-3}
out=$build/bench/rma
mkdir -p "$out"

. "$here/mpis.sh"
compile_with_mpis shapes

# launch ours|alone <mpi> <processes> <kind of window>. Of Open MPI's components sm has allocated windows only.
launch() {
  who=$1 mpi=$2 processes=$3 kind=$4
  if [ "$mpi" = mpich ]; then
    set -- mpiexec.hydra -n "$processes" "$out/shapes_$mpi" "$kind"
  else
    osc=rdma
    [ "$kind" != alloc ] || osc=sm
    set -- --allow-run-as-root --oversubscribe -n "$processes" "$out/shapes_$mpi" "$kind"
    [ "$who" = ours ] || set -- --mca osc "$osc" "$@"
    set -- mpirun.openmpi "$@"
  fi
  if [ "$who" = ours ]; then set -- "$build/bin/shmemx-rma" "$@"; fi
  timeout 300 "$@"
}

: >"$out/shapes_rows"
round=0
while [ "$round" -lt "$rounds" ]; do
  for processes in 2 4; do
    for kind in alloc malloc dynamic; do
      for mpi in $mpis; do
        for who in ours alone; do
          launch "$who" "$mpi" "$processes" "$kind" 2>"$out/shapes.err" | sed "s/^/$mpi $who /" >>"$out/shapes_rows"
          [ ! -s "$out/shapes.err" ] || { echo "bench: $mpi $who, $processes processes, $kind:" >&2; tail -n 1 "$out/shapes.err" >&2; }
        done
      done
    done
  done
  round=$((round + 1))
done

python3 "$here/shapes.py" "$out/shapes_rows" | tee "$build/bench/results_rma_shapes.txt"
