#!/bin/sh
# Profiling tools see every call of a program under shmemx-rma, however they come into the process.
# Usage: tools_test.sh <folder of shmemx-rma> <folder of the libraries> <folder of the programs> <mpi>
. "$(dirname "$0")/../support/script.sh"
rma=$1/shmemx-rma
# LD_PRELOAD, and files of programs, take no spaces.
ln -s "$3" tested || die 'no link'
programs=$PWD/tested
mpi=$4
options="-n 2"
[ "$mpi" = openmpi ] && options="$options --allow-run-as-root --oversubscribe"
export SHMEMX_MPI_RMA=report
counted='^counted: init 1 barrier 2 put 5 fence 4 wait 1 send 1$'

# check <tools in the process> <command>...
check() {
  tools=$1
  shift
  echo "$*"
  run 60 "$@"
  expect_rc 0
  [ "$(grep -c "$counted" out)" = "$tools" ] || die "$tools tools do not have the right numbers"
  expect_err '1 windows were taken over'
}

# shellcheck disable=SC2086
for means in pmpi next; do
  tool=$programs/rma_tool_${means}_$mpi.so
  # Preloaded, in the three ways in which a user may say it.
  check 1 env LD_PRELOAD="$tool" "$rma" mpiexec.$mpi $options "$programs/rma_counted_$mpi"
  check 1 "$rma" mpiexec.$mpi $options env LD_PRELOAD="$tool" "$programs/rma_counted_$mpi"
  if [ "$mpi" = openmpi ]; then
    check 1 "$rma" mpiexec.$mpi $options -x LD_PRELOAD="$tool" "$programs/rma_counted_$mpi"
  else
    check 1 "$rma" mpiexec.$mpi -genv LD_PRELOAD "$tool" $options "$programs/rma_counted_$mpi"
  fi
  # Linked with the program, as a library and as a part of it.
  check 1 "$rma" mpiexec.$mpi $options "$programs/rma_counted_linked_${means}_$mpi"
  check 1 "$rma" mpiexec.$mpi $options "$programs/rma_counted_inside_${means}_$mpi"
  # With the interposer linked in front of the tool, and behind it.
  check 1 mpiexec.$mpi $options "$programs/rma_counted_behind_${means}_$mpi"
done
# Two tools, of which the first one calls the second one.
# shellcheck disable=SC2086
check 2 env LD_PRELOAD="$programs/rma_tool_next_$mpi.so" "$rma" mpiexec.$mpi $options "$programs/rma_counted_linked_pmpi_$mpi"
# A module that brings MPI and tool by dlopen. Open MPI is there before it, so the module finds the routines of that which
# the interposer leaves alone.
# shellcheck disable=SC2086
[ "$mpi" = openmpi ] || check 1 "$rma" mpiexec.$mpi $options "$programs/rma_opener" "$programs/rma_counted_module_$mpi.so"
echo "passed"
