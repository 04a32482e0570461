# Sourced by run.sh and shapes.sh, which set $here, $build and $out.
#   compile_with_mpis <name>: makes $out/<name>_<mpi> of $here/<name>.cpp for each MPI that is here with its interposer,
#   and sets $mpis to their names.
compile_with_mpis() {
  mpis=""
  for mpi in mpich openmpi; do
    if ! command -v "mpicxx.$mpi" >/dev/null || ! [ -e "$build/lib/libshmemx_rma_$mpi.so" ]; then
      echo "bench: no columns of $mpi: mpicxx.$mpi or the interposer's library is not there" >&2
      continue
    fi
    "mpicxx.$mpi" -O2 -std=c++20 -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX "$here/$1.cpp" -o "$out/$1_$mpi"
    mpis="$mpis $mpi"
  done
}
