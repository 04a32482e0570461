#!/bin/sh
# shmemx-rma: which library it preloads, what SHMEMX_MPI_RMA does, and what it refuses. The ends of programs.
# Usage: launcher_test.sh <folder of shmemx-rma> <folder of the libraries> <folder of the programs> <mpi>...
set -u
rma=$1/shmemx-rma
libraries=$2
programs=$3
shift 3
failures=0
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# expect <status, - for any but 0, or any> <text in the output> <command>...
expect() {
  status=$1
  text=$2
  shift 2
  output=$(timeout 60 "$@" 2>&1)
  found=$?
  [ "$status" = - ] && [ "$found" -ne 0 ] && [ "$found" -ne 124 ] && status=$found
  [ "$status" = any ] && [ "$found" -ne 124 ] && status=$found
  if [ "$found" != "$status" ]; then
    echo "status $found instead of $status: $*"
    echo "$output"
    failures=$((failures + 1))
  elif ! echo "$output" | grep -q -- "$text"; then
    echo "'$text' is not in the output of: $*"
    echo "$output"
    failures=$((failures + 1))
  fi
}

expect 0 'shmemx-rma <launcher>' "$rma" --help

for name in 'a b  c' 'a:b'; do
  mkdir -p "$scratch/$name/bin"
  cp "$rma" "$scratch/$name/bin"
  ln -s "$libraries" "$scratch/$name/${libraries##*/}"
done

# The name that upstream MPICH and its derivatives give their library: a copy of the installed one and a program, in
# both of which the old name has been replaced.
rename_mpi() {
  LC_ALL=C sed 's/libmpich\.so\.12\x00/libmpi.so.12\x00\x00\x00/g' "$1" >"$2" && chmod +x "$2"
}
if [ -e "$programs/rma_endings_mpich" ]; then
  mkdir "$scratch/derivative"
  rename_mpi "$(ldd "$programs/rma_endings_mpich" | sed -n 's/.*=> \(.*libmpich.so.12\) .*/\1/p')" \
    "$scratch/derivative/libmpi.so.12"
  for name in endings linked; do rename_mpi "$programs/rma_${name}_mpich" "$scratch/derivative/$name"; done
  LD_LIBRARY_PATH=$scratch/derivative SHMEMX_MPI_RMA=report expect 0 "1 windows were taken over" \
    "$rma" "$scratch/derivative/endings" one_mpi
  LD_LIBRARY_PATH=$scratch/derivative SHMEMX_MPI_RMA=report expect 0 "1 windows were taken over" \
    "$scratch/derivative/linked" one_mpi
fi

expect 2 "no command" "$rma"
expect 2 "is not found" "$rma" no-such-launcher -n 1 ./program
expect 2 "oshrun starts no MPI programs" "$rma" "${rma%/*}/oshrun" -n 2 ./program
expect 2 "linked with MPICH or Open MPI" "$rma" true
for mpi in "$@"; do
  launch="mpiexec.$mpi -n 2"
  [ "$mpi" = openmpi ] && launch="$launch --allow-run-as-root --oversubscribe"
  program=$programs/rma_queries_$mpi
  # shellcheck disable=SC2086
  {
    SHMEMX_MPI_RMA=report expect 0 "windows were taken over" "$rma" $launch "$program" windows_of
    SHMEMX_MPI_RMA=off expect 0 "0 failures" "$rma" $launch "$program" names_groups
    SHMEMX_MPI_RMA=of expect 0 "allowed are on, off, report" "$rma" $launch "$program" predefined
    # Pretended nodes, on which the MPI can make a shared window and shmemx cannot.
    SHMEMX_PES_PER_NODE=1 SHMEMX_MPI_RMA=report expect 0 "MPI_Win_allocate_shared: left to the MPI, since not all memory" \
      "$rma" $launch "$programs/rma_shared_$mpi" one_node
    # Below the launcher, for each process; and a script, whose MPI only the launcher tells.
    SHMEMX_MPI_RMA=report expect 0 "windows were taken over" $launch "$rma" "$program" predefined
    SHMEMX_MPI_RMA=report PROGRAM=$program expect 0 "windows were taken over" "$rma" $launch sh -c '"$PROGRAM" predefined'
    # From folders of any name, but with a colon.
    SHMEMX_MPI_RMA=report expect 0 "windows were taken over" "$scratch/a b  c/bin/shmemx-rma" $launch "$program" predefined
    SHMEMX_MPI_RMA=report expect 0 "windows were taken over" $launch "$scratch/a b  c/bin/shmemx-rma" "$program" predefined
    expect 2 "a colon in the name" "$scratch/a:b/bin/shmemx-rma" $launch "$program" predefined
    # Linked in front, without any launcher; and preloaded besides.
    SHMEMX_MPI_RMA=report expect 0 "1 windows were taken over" $launch "$programs/rma_linked_$mpi" in_order
    SHMEMX_MPI_RMA=report expect 0 "1 windows were taken over" "$rma" $launch "$programs/rma_linked_$mpi" in_order
  }
  # A module that brings the MPI by dlopen. The launcher is the one argument that tells which MPI it is.
  SHMEMX_MPI_RMA=report MODULE=$programs/rma_module_$mpi.so expect 0 "1 windows were taken over" "$rma" $launch \
    sh -c "\"$programs/rma_opener\" \"\$MODULE\" in_order"
  # shmemx does not start in one process only: no process waits for it, and the MPI has all windows.
  # shellcheck disable=SC2086
  SHMEMX_MPI_RMA=report PROGRAM=$program expect 0 "all windows are left to the MPI" "$rma" $launch \
    sh -c '[ "${PMI_RANK-$OMPI_COMM_WORLD_RANK}" = 0 ] || export SHMEM_SYMMETRIC_SIZE=12q; "$PROGRAM" names_groups'
  # More processes than cores.
  launch=$(echo "$launch" | sed 's/-n 2/-n 5/')
  program=$programs/rma_endings_$mpi
  # shellcheck disable=SC2086
  {
    SHMEMX_MPI_RMA=report expect 0 "0 windows were taken over" "$rma" $launch "$program" no_window
    SHMEMX_MPI_RMA=report expect 0 "1 windows were taken over" "$rma" $launch "$program" no_free
    SHMEMX_MPI_RMA=off expect 0 "" "$rma" $launch "$program" in_order
    expect 42 "" "$rma" $launch "$program" abort
    expect 42 "" "$rma" $launch "$program" abort_lock
    expect - "" "$rma" $launch "$program" die
    expect - "Killed" "$rma" $launch "$program" die_lock
    expect - "" "$rma" $launch "$program" exit
    # What the launcher says of a program that does not call MPI_Finalize differs.
    expect any "ends without MPI_Finalize" "$rma" $launch "$program" exit_0
    expect any "ends without MPI_Finalize" "$rma" $launch "$program" exit_recv
    expect 0 "" "$rma" $launch "$program" at_exit
    expect - "MPI_Put: the target's memory is not in the window" "$rma" $launch "$program" error
    expect - "8 bytes at 0x[0-9a-f]* of rank 4 .* it had removed a range there [0-9]* ms before" "$rma" $launch "$program" detach
  }
done
[ "$failures" -eq 0 ]
