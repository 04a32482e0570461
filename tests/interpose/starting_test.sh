#!/bin/sh
# Which processes get the interposer's library, which one it is, and what it does with an MPI that it is not for.
# Usage: starting_test.sh <folder of shmemx-rma> <folder of the libraries> <folder of the programs> <mpi>
. "$(dirname "$0")/../support/script.sh"
rma=$1/shmemx-rma
libraries=$PWD/libraries
# LD_PRELOAD, and files of programs, take no spaces.
ln -s "$2" libraries && ln -s "$3" tested || die 'no link'
programs=$PWD/tested
mpi=$4
program=$programs/rma_counted_$mpi
export SHMEMX_MPI_RMA=report

# The launcher's own options stand behind its name.
launch="mpiexec.$mpi"
[ "$mpi" = openmpi ] && launch="$launch --allow-run-as-root --oversubscribe"
# succeed <command>...: the program runs, and its window is taken over.
succeed() {
  run 60 "$@"
  expect_rc 0
  expect_err '^shmemx-rma: [1-9][0-9]* windows were taken over'
}
# refuse <line> <command>...
refuse() {
  line=$1
  shift
  run 60 "$@"
  [ "$rc" != 0 ] && [ "$rc" != 124 ] || die "status $rc"
  expect_err "$line"
}

# The programs of a job between colons, and in a file; as many as there are get the library.
# shellcheck disable=SC2086
contexts() {
  succeed "$rma" $launch -n 1 "$program" : -n 2 "$program" : -n 1 "$program"
  printf -- '-n 1 %s\n# a comment\n\n-n 2 %s\n' "$program" "$program" >programs
  case $mpi in
    openmpi) succeed "$rma" $launch --app programs ;;
    mpich) succeed "$rma" $launch -configfile programs ;;
  esac
}

# Some processes are without the library: those that have it do not wait for them.
# shellcheck disable=SC2086
partial() {
  export SHMEMX_MPI_START_TIMEOUT=1
  refuse 'rank 1 has not begun to start shmemx for 1 seconds' "$rma" $launch -n 1 "$program" : -n 1 env -u LD_PRELOAD "$program"
  refuse 'rank 0 has not begun to start shmemx for 1 seconds' "$rma" $launch -n 1 env -u LD_PRELOAD "$program" : -n 2 "$program"
  unset SHMEMX_MPI_START_TIMEOUT
}

# Copies the MPI with this change to its bytes, to be found by LD_LIBRARY_PATH.
changed_mpi() {
  file=$(ldd "$program" | sed -n 's/.*=> \(.*libmpi[a-z]*\.so\.[0-9]*\) .*/\1/p' | head -n 1)
  mkdir -p "$dir/changed"
  LC_ALL=C sed "$1" "$file" >"$dir/changed/${file##*/}" && chmod +x "$dir/changed/${file##*/}"
}

# shellcheck disable=SC2086
other_mpi() {
  other=openmpi
  [ "$mpi" = openmpi ] && other=mpich
  if [ -e "$libraries/libshmemx_rma_$other.so" ]; then
    refuse "libshmemx_rma_$other.so is for .*, but the MPI of this program is '.*'" \
      env LD_PRELOAD="$libraries/libshmemx_rma_$other.so" $launch -n 2 "$program"
    refuse "libshmemx_rma_$other.so is for" env SHMEMX_MPI_FLAVOR=$other "$rma" $launch -n 2 "$program"
  fi
  changed_mpi 's/MPICH Version/ACMEX Version/g; s/MPICH [RDcCFA]/ACMEX &/g; s/ACMEX MPICH/ACMEX/g; s/Open MPI v/Acme MPI v/g'
  export LD_LIBRARY_PATH="$dir/changed"
  refuse "the MPI of this program is 'AC*" "$rma" $launch -n 2 "$program"
  SHMEMX_MPI_FLAVOR=$mpi succeed "$rma" $launch -n 2 "$program"
  unset LD_LIBRARY_PATH
}

# An MPICH of MPI-3.1; a derivative's name of the library, in the program and the library; sessions of an MPI that a module
# brings, without MPI_Init.
# shellcheck disable=SC2086
mpich() {
  changed_mpi 's/\(MPI_[A-Za-z_]*\)_c\x00/\1_x\x00/g'
  LD_LIBRARY_PATH=$dir/changed succeed "$rma" $launch -n 2 "$program"
  LD_LIBRARY_PATH=$dir/changed succeed "$rma" $launch -n 2 "$programs/rma_types_mpich"
  changed_mpi 's/libmpich\.so\.12/libmpi_x.so.12/g'
  mv "$dir/changed/libmpich.so.12" "$dir/changed/libmpi_x.so.12"
  LC_ALL=C sed 's/libmpich\.so\.12/libmpi_x.so.12/g' "$program" >derivative && chmod +x derivative
  LD_LIBRARY_PATH=$dir/changed succeed "$rma" ./derivative
  run 60 "$rma" $launch -n 2 "$programs/rma_opener" "$programs/rma_sessions_mpich.so"
  expect_rc 0
}

# By what shmemx-rma knows the MPI where the program does not say it.
# shellcheck disable=SC2086
scripts() {
  export PROGRAM="$program"
  succeed $launch -n 2 "$rma" sh -c '"$PROGRAM"'
  LD_BIND_NOW=1 succeed "$rma" $launch -n 2 sh -c '"$PROGRAM"'
  run 10 "$rma" sh -c 'echo "$LD_PRELOAD"'
  if [ "$(ls "$libraries"/libshmemx_rma_*.so | wc -l)" = 2 ]; then
    expect_rc 2
    expect_err 'set SHMEMX_MPI_FLAVOR'
  fi
  SHMEMX_MPI_FLAVOR=$mpi run 10 "$rma" sh -c 'echo "$LD_PRELOAD"'
  expect_rc 0
  grep -q "libshmemx_rma_$mpi.so\$" out || die "the library is not preloaded"
  SHMEMX_MPI_FLAVOR=other run 10 "$rma" true
  expect_rc 2
  expect_err "SHMEMX_MPI_FLAVOR is 'other', allowed are mpich, openmpi"
}

# The program is linked with another OpenSHMEM library, which comes first for all names of the standard.
# shellcheck disable=SC2086
other_shmem() {
  succeed "$rma" $launch -n 2 "${program%_"$mpi"}_other_$mpi"
}

# What srun is called with, by one that prints it.
slurm() {
  printf '#!/bin/sh\nfor word; do echo "$word"; done\n' >srun && chmod +x srun
  # expect_exports <pattern>...: the last one of each step counts.
  expect_exports() {
    grep -e '^--export' out >exports
    for pattern; do grep -q -- "$pattern" exports || die "no export like $pattern"; done
  }
  run 10 "$rma" ./srun -n 2 "$program" --export=mine
  expect_exports '^--export=ALL,LD_PRELOAD=.*rma' '^--export=mine$'
  run 10 "$rma" ./srun --export=ALL,A=1 -n 2 "$program" : --export NONE "$program" : --export=LD_PRELOAD=/t.so,B=2 "$program"
  expect_exports "^--export=ALL,A=1,LD_PRELOAD=.*$mpi.so" "^--export=LD_PRELOAD=/t.so:.*$mpi.so,B=2"
  grep -q "^LD_PRELOAD=.*$mpi.so" out || die "no library where nothing else is exported"
  SLURM_EXPORT_ENV=A,B run 10 "$rma" ./srun "$program"
  expect_exports "^--export=A,B,LD_PRELOAD=.*$mpi.so"
}

# shellcheck disable=SC2086
static() {
  run 20 "$rma" $launch -n 1 "$programs/rma_static"
  expect_rc 0
  expect_err 'rma_static has its MPI linked into it statically: its windows are left to that'
  run 20 "$rma" "$programs/rma_static"
  expect_rc 0
}

contexts
partial
other_mpi
[ "$mpi" = openmpi ] || mpich
scripts
other_shmem
slurm
static
echo passed
