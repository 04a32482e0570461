#!/bin/sh
# node_path_test.sh CASE: the choice of the path between the PEs of a node, by variables and by limits, and the
# diagnostics if their settings differ. Needs OSHRUN and PES.
. "$(dirname "$0")/../robust/common.sh"

# Changes the environment or a limit of one PE: on_pe.sh PE NAME=VALUE|-LIMIT=VALUE COMMAND...
cat >on_pe.sh <<'END'
if [ "$SHMEMX_JOB_PE" = "$1" ]; then
  case $2 in
    -*) limit=${2#-} && ulimit "-${limit%%=*}" "${limit#*=}" ;;
    *) export "$2" ;;
  esac
fi
shift 2
exec "$@"
END

expect_path() {  # PATH WHAT
  grep -q "shmemx: the node path is $1:" err || die "$2: the node path is not $1"
}
# Checks that the job was refused with one line of one PE.
expect_one_line() {  # WHAT PATTERN...
  expect_refusal "$@"
  [ "$(grep -c '^\[pe ' err)" = 1 ] || die "$1: not one line of one PE"
}

case_chosen_by_the_variable() {
  for n in 1 2 3 8; do
    for path in direct queue; do
      SHMEM_DEBUG=1 SHMEMX_NODE_PATH=$path run 60 "$OSHRUN" -n $n --timeout 55 "$pe" work
      expect_ok "$n PEs, $path"
      expect_path $path "$n PEs"
    done
  done
  SHMEM_DEBUG=1 run 20 "$OSHRUN" -n 2 --timeout 15 "$pe" work
  expect_ok 'no setting'
  expect_path direct 'no setting'
}

case_few_and_small_cells() {
  for cells in 8 64; do
    for bytes in 512 1088 64k; do
      SHMEMX_NODE_PATH=queue SHMEMX_QUEUE_CELLS=$cells SHMEMX_QUEUE_CELL_BYTES=$bytes \
        run 60 "$OSHRUN" -n 4 --timeout 55 "$pe" work
      expect_ok "$cells cells of $bytes bytes"
    done
  done
}

case_one_setting_applies_to_all() {
  for path in direct queue; do
    SHMEM_DEBUG=1 run 20 "$OSHRUN" -n 3 --timeout 15 sh on_pe.sh 2 SHMEMX_NODE_PATH=$path "$pe" work
    expect_ok "$path on PE 2"
    expect_path $path "$path on PE 2"
  done
}

case_different_settings_are_refused() {
  SHMEMX_NODE_PATH=direct run 20 "$OSHRUN" -n 3 --timeout 15 sh on_pe.sh 1 SHMEMX_NODE_PATH=queue "$pe" work
  expect_one_line 'two paths' 'SHMEMX_NODE_PATH is direct on PE 0 and queue on PE 1'
  run 20 "$OSHRUN" -n 3 --timeout 15 sh on_pe.sh 2 SHMEMX_QUEUE_CELLS=128 "$pe" work
  expect_one_line 'two numbers of cells' 'SHMEMX_QUEUE_CELLS is 64 on PE 0 and 128 on PE 2'
  run 20 "$OSHRUN" -n 3 --timeout 15 sh on_pe.sh 0 SHMEMX_QUEUE_CELL_BYTES=4k "$pe" work
  expect_one_line 'two sizes of cells' 'SHMEMX_QUEUE_CELL_BYTES is 4096 on PE 0 and 8192 on PE 1'
  SHMEM_INIT_ERRORS=return run 20 "$OSHRUN" -n 2 --timeout 15 sh on_pe.sh 1 SHMEMX_QUEUE_CELLS=8 "$pe" init_thread
  [ "$rc" = 21 ] || die "two numbers of cells, shmem_init_thread may return: status $rc"
}

case_bad_values_are_refused() {
  for setting in SHMEMX_NODE_PATH=mapped SHMEMX_QUEUE_CELLS=7 SHMEMX_QUEUE_CELLS=many SHMEMX_QUEUE_CELL_BYTES=1000 \
    SHMEMX_QUEUE_CELL_BYTES=2m SHMEMX_PENDING_MAX=0 SHMEMX_PROGRESS=maybe; do
    run 20 env "$setting" "$OSHRUN" -n 2 --timeout 15 "$pe" work
    expect_one_line "$setting" "${setting%%=*}: value '${setting#*=}'"
  done
}

# 4 heaps of 1 GiB do not fit into half of 6 GB, one does.
case_heaps_of_other_nodes_need_no_address_space() {
  export SHMEM_DEBUG=1 SHMEMX_PES_PER_NODE=2
  for n in 2 4 8; do
    SHMEM_SYMMETRIC_SIZE=30t run 60 "$OSHRUN" -n $n --timeout 55 "$pe" work
    expect_ok "$n PEs, 30 TiB"
    expect_path direct "$n PEs, 30 TiB"
    ! grep -q 'warning' err || die "$n PEs, 30 TiB: a warning"
  done
}

# A heap that does not fit makes PEs use messages: that is said once, with what would fit, and that does fit.
case_a_heap_that_does_not_fit_is_reported() {
  for per_node in 0 2; do
    export SHMEMX_PES_PER_NODE=$per_node
    SHMEM_SYMMETRIC_SIZE=40t run 60 "$OSHRUN" -n 4 --timeout 55 "$pe" work
    expect_ok "nodes of $per_node, 40 TiB"
    [ "$(grep -c 'shmemx warning:' err)" = 1 ] || die "nodes of $per_node, 40 TiB: not one warning"
    grep -q 'warning: SHMEM_SYMMETRIC_SIZE requests 43980465111040 bytes for each of .* use messages' err ||
      die "nodes of $per_node, 40 TiB: no numbers"
    fitting=$(sed -n 's/.*SHMEM_SYMMETRIC_SIZE to at most \([0-9]*\) .*/\1/p' err)
    SHMEM_DEBUG=1 SHMEM_SYMMETRIC_SIZE=$fitting run 60 "$OSHRUN" -n 4 --timeout 55 "$pe" work
    expect_ok "nodes of $per_node, $fitting bytes"
    expect_path direct "nodes of $per_node, $fitting bytes"
    ! grep -q 'warning' err || die "nodes of $per_node, $fitting bytes: a warning"
    SHMEMX_NODE_PATH=queue SHMEM_SYMMETRIC_SIZE=40t run 60 "$OSHRUN" -n 4 --timeout 55 "$pe" work
    expect_ok "nodes of $per_node, messages requested"
    ! grep -q 'warning' err || die "nodes of $per_node, messages requested: a warning"
  done
}

case_chosen_by_the_address_space() {
  prlimit --as=6000000000 true 2>/dev/null || skip 'prlimit --as is refused'
  export SHMEM_DEBUG=1 SHMEM_SYMMETRIC_SIZE=1G
  run 30 prlimit --as=6000000000 "$OSHRUN" -n 4 --timeout 25 "$pe" work
  expect_ok '6 GB, heaps of 1 GiB'
  expect_path queue '6 GB, heaps of 1 GiB'
  run 30 "$OSHRUN" -n 4 --timeout 25 sh on_pe.sh 3 -v=6000000 "$pe" work
  expect_ok '6 GB on PE 3 only'
  expect_path queue '6 GB on PE 3 only'
  SHMEMX_NODE_PATH=direct run 30 prlimit --as=6000000000 "$OSHRUN" -n 4 --timeout 25 "$pe" work
  expect_one_line '6 GB, direct' 'SHMEM_SYMMETRIC_SIZE .* 1073741824 bytes' 'SHMEMX_NODE_PATH=queue'
  SHMEM_SYMMETRIC_SIZE=100M run 30 prlimit --as=6000000000 "$OSHRUN" -n 4 --timeout 25 "$pe" work
  expect_ok '6 GB, heaps of 100 MiB'
  expect_path direct '6 GB, heaps of 100 MiB'
  unset SHMEM_SYMMETRIC_SIZE
  run 30 prlimit --as=6000000000 "$OSHRUN" -n 4 --timeout 25 "$pe" work
  expect_ok '6 GB, default heap'
  expect_path direct '6 GB, default heap'
  SHMEMX_NODE_PATH=queue run 30 prlimit --as=3000000000 "$OSHRUN" -n 4 --timeout 25 "$pe" work
  expect_ok '3 GB, queue'
  expect_path queue '3 GB, queue'
}

run_case "$@"
