#!/bin/sh
# One-sided MPI: MPICH and Open MPI, each under the interposer and alone, and SHMEM, in turns. bench/run.sh rma calls it.
#   bench/rma/run.sh <build folder>
# Prints the least time of each row in microseconds, and writes the same to <build folder>/bench/results_rma.txt.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$1
rounds=${BENCH_ROUNDS:-5}
out=$build/bench/rma
mkdir -p "$out"

columns=""
for mpi in mpich openmpi; do
  if ! command -v "mpicxx.$mpi" >/dev/null || ! [ -e "$build/lib/libshmemx_rma_$mpi.so" ]; then
    echo "bench: no columns of $mpi: mpicxx.$mpi or the interposer's library is not there" >&2
    continue
  fi
  "mpicxx.$mpi" -O2 -std=c++20 -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX "$here/rma.cpp" -o "$out/rma_$mpi"
  columns="$columns ours_$mpi $mpi"
done
c++ -O2 -std=c++20 -I"$here/../../include" "$here/rma_shmem.cpp" -L"$build/lib" -Wl,-rpath,"$build/lib" -lshmemx \
  -o "$out/rma_shmem"

# Open MPI's default component fails in MPI_Fetch_and_op on one node; sm is its fastest there.
launch() {
  case $1 in
    ours_mpich) "$build/bin/shmemx-rma" mpiexec.mpich -n 2 "$out/rma_mpich" ;;
    mpich) mpiexec.mpich -n 2 "$out/rma_mpich" ;;
    ours_openmpi) "$build/bin/shmemx-rma" mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 "$out/rma_openmpi" ;;
    openmpi) mpirun.openmpi --allow-run-as-root --oversubscribe --mca osc sm -n 2 "$out/rma_openmpi" ;;
    shmem) "$build/bin/oshrun" -n 2 "$out/rma_shmem" ;;
  esac
}

: >"$out/rows"
round=0
while [ "$round" -lt "$rounds" ]; do
  for column in $columns shmem; do
    launch "$column" 2>"$out/$column.err" | sed "s/^/$column /" >>"$out/rows" || {
      echo "bench: $column failed:" >&2
      tail -n 5 "$out/$column.err" >&2
    }
  done
  round=$((round + 1))
done

awk -v columns="$columns shmem" '
  NF == 3 {
    if (!($2 in seen)) { seen[$2] = 1; order[++rows] = $2 }
    if (!(($1, $2) in least) || $3 < least[$1, $2]) least[$1, $2] = $3
  }
  END {
    count = split(columns, column, " ")
    printf "%-22s", "us"
    for (i = 1; i <= count; ++i) printf "%14s", column[i]
    printf "\n"
    for (r = 1; r <= rows; ++r) {
      printf "%-22s", order[r]
      for (i = 1; i <= count; ++i) printf "%14s", (column[i], order[r]) in least ? least[column[i], order[r]] : "-"
      printf "\n"
    }
  }' "$out/rows" | tee "$build/bench/results_rma.txt"
