#!/usr/bin/env bash
# Builds library, oshrun, unit tests and PE tests for aarch64 and runs them under user-mode emulation; one of
# them also with pages of 64 KiB. Needs g++-aarch64-linux-gnu, qemu-user, and the headers of Boost, CLI11 and nlohmann-json.
# The folder for the build is the argument, build/aarch64 by default.
#
# Emulation finds errors of layouts, sizes and system calls. It has the memory order of the machine it runs on, so it
# does not test that of aarch64.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${1:-$root/build/aarch64}
for program in aarch64-linux-gnu-g++ aarch64-linux-gnu-ar qemu-aarch64 cmake ninja; do
  command -v "$program" >/dev/null || { echo "$program is not installed (packages g++-aarch64-linux-gnu, qemu-user)"; exit 77; }
done

# Boost.Test's own code, for aarch64.
mkdir -p "$build/boost/include"
ln -sfn /usr/include/boost "$build/boost/include/boost"
library=$build/boost/libboost_unit_test_framework.a
if [ ! -f "$library" ]; then
  printf '%s\n' '#define BOOST_TEST_NO_MAIN' '#define BOOST_TEST_ALTERNATIVE_INIT_API' \
    '#include <boost/test/included/unit_test.hpp>' >"$build/boost/unit_test.cpp"
  aarch64-linux-gnu-g++ -std=c++20 -O1 -w -I"$build/boost/include" -c "$build/boost/unit_test.cpp" -o "$build/boost/unit_test.o"
  aarch64-linux-gnu-ar rcs "$library" "$build/boost/unit_test.o"
fi
cmake -S "$root" -B "$build" -G Ninja --toolchain "$root/cmake/aarch64.cmake" -DCMAKE_BUILD_TYPE=Release \
  -DBoost_NO_BOOST_CMAKE=ON -DBoost_INCLUDE_DIR="$build/boost/include" \
  -DBoost_UNIT_TEST_FRAMEWORK_LIBRARY_RELEASE="$library" -DPKG_CONFIG_EXECUTABLE=/bin/false -DSHMEMX_BUILD_EXAMPLES=OFF
programs='pe_smoke pe_rma_bulk pe_atomic pe_signal pe_sync_lock pe_sync_wait pe_coll_move pe_static_data_pie pe_stress_order'
# shellcheck disable=SC2086
cmake --build "$build" --target shmemx oshrun shmemx_unit_tests pe_memory_pages $programs

export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu SHMEMX_TEST_SECONDS=0.5
export SHMEM_SYMMETRIC_SIZE=64M # the emulator records every mapped page
failures=0
# run NAME COMMAND...
run() {
  local name=$1
  shift
  if timeout -k 5 170 "$@" >"$build/output" 2>&1; then
    echo "passed: $name"
  else
    echo "FAILED: $name, status $?"
    tail -n 20 "$build/output"
    failures=$((failures + 1))
  fi
}
# on_pes N "OPTIONS OF THE EMULATOR" PROGRAM [ARGUMENT...]
on_pes() {
  local pes=$1 options=$2 program=$3
  shift 3
  # shellcheck disable=SC2086
  run "$program $* on $pes PEs${options:+, $options}" qemu-aarch64 $options "$build/bin/oshrun" -n "$pes" --timeout 160 \
    qemu-aarch64 $options "$build/tests/bin/$program" "$@"
}
# Tests of limits of the address space would measure the emulator.
run 'unit tests' qemu-aarch64 "$build/tests/unit/bin/shmemx_unit_tests" --log_level=error \
  --run_test='!base_machine/the_limit_of_the_address_space_is_reported' \
  --run_test='!windows_arena/an_own_block_without_guards_needs_address_space_for_itself_only'
for program in $programs; do on_pes 3 '' "$program"; done
on_pes 3 '' pe_memory_pages zeros_after_finalize
# Only this program: with large pages the emulator ends zero-filled data at a small page, so the tests of static data fail.
on_pes 2 '-p 65536' pe_smoke
SHMEMX_NODE_PATH=queue on_pes 3 '' pe_smoke
SHMEMX_PES_PER_NODE=1 on_pes 2 '' pe_smoke
[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
