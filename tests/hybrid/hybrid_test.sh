#!/bin/sh
# hybrid_test.sh CASE: MPI and OpenSHMEM in one program. Needs MPIEXEC (command and options) and PROGRAM.
. "$(dirname "$0")/../support/script.sh"
counts='1 2 3 8'

# passes SCENARIO COUNT
passes() {
  run 90 $MPIEXEC -n "$2" "$PROGRAM" "$1"
  expect_rc 0
  grep -qx "ok $2" out || die "$1 with $2 processes: no line 'ok $2'"
}
each_count() {  # SCENARIO
  for n in $counts; do passes "$1" "$n"; done
}

case_finalize_orders() {
  each_count shmem_first
  each_count mpi_first
}
case_no_finalize() { each_count no_finalize; }
case_repeated() { each_count again; }
case_parts_of_the_program() { each_count split; }
case_misuse() {
  each_count misuse
  for line in "argument 'attributes' is null" "member 'bytes' is 55, allowed are 56 \(sizeof\(shmemx_init_attr_t\)\) and sizes of later" \
    "a member behind the first 56 bytes is set, which this version" "member 'n_pes' is -1, allowed are numbers from 1" \
    "member 'my_pe' is 8, allowed are 0..7" "member 'thread_level' is 4, allowed are" "member 'allgather' is null, both" \
    "member 'barrier' is null, both" 'delivers data of PE 7 of 8 in the place of PE 0 of 8' 'allgather returned 7'; do
    expect_err "$line"
  done
}
# The second session of the launcher's interface.
case_by_the_launcher() {
  each_count by_launcher
  each_count by_launcher_mpi_first
}
# Each order of the starts on two layouts; eight processes that spin take long.
case_nodes() {
  for layout in '2 1' '5 2' '8 3'; do
    export SHMEMX_PES_PER_NODE="${layout#* }"
    scenarios='shmem_first mpi_first split again by_launcher by_launcher_mpi_first'
    [ "$layout" = '8 3' ] && scenarios='again by_launcher'
    for scenario in $scenarios; do passes "$scenario" "${layout% *}"; done
  done
}
case_ends_of_the_job() {
  run 60 $MPIEXEC -n 3 "$PROGRAM" global_exit
  expect_rc 3
}

run_case "$@"
