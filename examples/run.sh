#!/usr/bin/env bash
# Builds the library and the examples if need be, and runs the examples on 4 PEs.
#
# Usage: examples/run.sh [number of PEs = 4]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
pe_count=${1:-4}

"$root/cmake/install_packages.sh" build
# Also where another script has configured the folder, without the examples or before libpng was there.
if ! ninja -C "$build" -t query heat2d >/dev/null 2>&1; then
  echo "Configuring in $build"
  mkdir -p "$build"
  (cd "$root" && cmake --preset release -DSHMEMX_BUILD_TESTS=OFF -DSHMEMX_BUILD_EXAMPLES=ON -UPNG_*) >"$build/configure.log" 2>&1 || {
    cat "$build/configure.log" >&2
    exit 1
  }
fi
cmake --build "$build" --target examples oshrun shmem_info

run() {
  local title=$1 name=$2
  shift 2
  printf '\n== %s\n' "$title"
  "$build/bin/oshrun" -n "$pe_count" "$build/examples/$name" "$@"
}

run "Hello" hello
run "Heat in a plate: 2-D stencil, one-sided halo exchange" heat2d "$build/heat.png"
run "GUPS: atomics on random words of a distributed table" gups
run "Parallel integer sort" isort
run "Work stealing on atomics" worksteal
run "Pi: the C++ overloads" pi
run "What one-sided operations cost here" latency
printf '\nAll examples verified. The picture is %s\n' "$build/heat.png"
