#!/bin/sh
# One-sided MPI: MPICH and Open MPI, each under the interposer and alone, and SHMEM, in turns. bench/run.sh rma calls it.
#   bench/rma/run.sh <build folder> node|hosts
# node: two ranks on this machine; 4 and 8 for the fence, and for a ring of post, start, put, complete and wait.
# hosts: on the virtual hosts h0 and h1; run.sh itself runs on h0.
# Prints the least time of each row in microseconds, and writes the same to <build folder>/bench/results_rma_<place>.txt.
# BENCH_ROUNDS: how often each column has its turn.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$1
place=$2
rounds=${BENCH_ROUNDS:-5}
out=$build/bench/rma
mkdir -p "$out"

. "$here/mpis.sh"
compile_with_mpis rma
columns=""
for mpi in $mpis; do columns="$columns ours_$mpi $mpi"; done
c++ -O2 -std=c++20 -I"$here/../../include" "$here/rma_shmem.cpp" -L"$build/lib" -Wl,-rpath,"$build/lib" -lshmemx \
  -o "$out/rma_shmem"

# Open MPI's default component fails in MPI_Fetch_and_op on one node; sm is its fastest there. Between hosts it takes pt2pt.
# Both launchers hand the agent's name on unquoted, so it is looked up in PATH: its folder may have spaces.
osc=sm
argument=
if [ "$place" = hosts ]; then
  PATH=$build/tests/bin:$PATH
  osc=pt2pt
  argument=hosts
fi
# hydra <program>..., openmpi <program>...: start the program on both ranks, under the interposer if $interposed is yes.
hydra() {
  if [ "$place" = hosts ]; then
    set -- -launcher ssh -launcher-exec vhosts-enter -bind-to none -hosts h0,h1 -ppn 1 "$@"
  fi
  under mpiexec.hydra -n "$ranks" "$@"
}
openmpi() {
  if [ "$place" = hosts ]; then
    set -- --bind-to none --mca plm_rsh_agent vhosts-enter -H h0:1,h1:1 --mca pml ob1 --mca btl tcp,self "$@"
  else
    set -- --oversubscribe "$@"
  fi
  under mpirun.openmpi --allow-run-as-root -n "$ranks" "$@"
}
under() {
  if [ "$interposed" = yes ]; then set -- "$build/bin/shmemx-rma" "$@"; fi
  timeout 120 "$@"
}
launch() {
  interposed=no
  case $1 in ours_*) interposed=yes ;; esac
  # $argument is one word or none
  case $1 in
    *mpich) hydra "$out/rma_mpich" $argument ;;
    ours_openmpi) openmpi "$out/rma_openmpi" $argument ;;
    openmpi) openmpi --mca osc $osc "$out/rma_openmpi" $argument ;;
    shmem) hydra "$out/rma_shmem" $argument ;;
  esac
}

: >"$out/rows"
# measure <ranks> <column>...
measure() {
  ranks=$1
  shift
  for column in "$@"; do
    launch "$column" 2>"$out/$column.err" | sed "s/^/$column /" >>"$out/rows" || {
      echo "bench: $column failed:" >&2
      tail -n 5 "$out/$column.err" >&2
    }
  done
}
round=0
while [ "$round" -lt "$rounds" ]; do
  measure 2 $columns shmem
  if [ "$place" = node ] && [ "$round" -lt 2 ]; then  # an MPI that spins takes a minute for its rows
    measure 4 $columns
    measure 8 $columns
  fi
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
  }' "$out/rows" | tee "$build/bench/results_rma_$place.txt"
