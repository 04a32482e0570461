#!/bin/bash
# surroundings_test.sh CTEST TESTS: runs a few tests in an unusual environment: variables set, descriptors open, limits
# changed, in a folder whose name contains spaces, an accent and the project's name.
set -u
ctest=$1
tests=$2
top=$(mktemp -d) || exit 1
trap 'cd /; rm -rf "$top"' EXIT
folder="$top/a shmemx of José"
mkdir "$folder" && cd "$folder" || exit 1
printf 'subdirs("%s")\n' "$tests" >CTestTestfile.cmake

for fd in $(seq 3 40); do eval "exec $fd>'a shmemx file $fd'"; done
ulimit -S -n 256
ulimit -S -c "$(ulimit -H -c)"
export SHMEM_DEBUG=1 SHMEM_INFO=1 SHMEM_VERSION=1 SHMEM_SYMMETRIC_SIZE=1m SHMEM_WAIT=sometimes SMA_VERSION=1
export SHMEMX_NODE_PATH=queue SHMEMX_TRANSPORT=none SHMEMX_PES_PER_NODE=3 SHMEMX_CC=false
export PMI_RANK=1 PMI_SIZE=2 PMIX_RANK=3 OMPI_COMM_WORLD_SIZE=4 SLURM_PROCID=1 SLURM_NTASKS=4 UCX_TLS=none FI_PROVIDER=none

"$ctest" --output-on-failure --timeout 100 -R \
  '^(pe3\.(setup\.(descriptors_returned|repeated|signals_untouched)|setup\.query|smoke)|unit\.base.*|launch\.(unit|hello_pes|exit_of_first_failing|singleton|wrappers|shmem_info)|robust\.children\.nested)$' \
  >log 2>&1 </dev/null || { cat log; exit 1; }
passed=$(grep -c ' Passed ' log)
[ "$passed" -ge 8 ] || { cat log; echo "FAILED: $passed tests ran"; exit 1; }
if ls -- *core* >/dev/null 2>&1; then echo "FAILED: a core dump was left"; exit 1; fi
exit 0
