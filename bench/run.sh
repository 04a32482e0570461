#!/bin/sh
# Measures the library, the physical limit and Open MPI's OSHMEM in one run.
#   bench/run.sh [quick|full] [further options of bench_driver, such as --only p,g,barrier]
# Writes results.json, results.txt and plots into build/bench. BUILD_DIR names another build folder.
set -eu

mode=quick
case "${1:-}" in
  quick | full) mode=$1; shift ;;
  -h | --help) sed -n '2,4p' "$0"; exit 0 ;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD_DIR:-$root/build}
programs="latency atomics bandwidth pingpong barrier collectives idle_cpu threads_rate instructions"

say() { echo "bench: $*" >&2; }

# Installs what is missing, where that is possible; the benches do without the optional ones.
install_packages() {
  "$root/cmake/install_packages.sh" build bench || say "not all packages are there: some figures will be missing"
}

build_ours() {
  if ! grep -qs '^SHMEMX_BUILD_BENCH:BOOL=ON' "$build/CMakeCache.txt"; then
    options=""
    if [ ! -f "$build/CMakeCache.txt" ]; then options="-G Ninja -DSHMEMX_BUILD_TESTS=OFF -DCMAKE_BUILD_TYPE=Release"; fi
    # shellcheck disable=SC2086
    cmake -S "$root" -B "$build" $options -DSHMEMX_BUILD_BENCH=ON >/dev/null
  fi
  cmake --build "$build" --target bench_all --parallel >"$build/bench-build.log" 2>&1 || {
    tail -n 40 "$build/bench-build.log" >&2
    say "the build failed"
    exit 1
  }
}

# Debian's wrapper by its full path: a build of ours may stand in PATH under the same name.
build_peer() {
  peer_cxx=${PEER_OSHCXX:-/usr/bin/oshcxx}
  peer_cc=${PEER_OSHCC:-/usr/bin/oshcc}
  if ! [ -x "$peer_cxx" ] || ! [ -x /usr/bin/oshrun ]; then
    say "Open MPI's OSHMEM is not installed: its figures will be null"
    return 1
  fi
  mkdir -p "$build/bench/peer"
  for program in $programs; do
    target=$build/bench/peer/$program
    if [ -x "$target" ] && [ -z "$(find "$root/bench" -newer "$target" \( -name '*.cpp' -o -name '*.hpp' \) -print)" ]; then
      continue
    fi
    "$peer_cxx" -O2 -std=c++20 -pthread "$root/bench/$program.cpp" -o "$target" ||
      say "$program does not build with Open MPI's OSHMEM"
  done
  "$peer_cc" -O2 "$root/bench/hello.c" -o "$build/bench/peer/hello"
}

install_packages
build_ours
peer_option=""
if build_peer; then peer_option="--peer-programs $build/bench/peer"; fi
BENCH_COMMIT=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)
export BENCH_COMMIT
# Open MPI leaves files behind when a job of its is ended.
started=$(mktemp)
trap 'find /dev/shm -maxdepth 1 -name "vader_segment.*" -user "$(id -u)" -newer "$started" -delete 2>/dev/null; rm -f "$started"' EXIT
# shellcheck disable=SC2086
"$build/bench/bench_driver" "$mode" --ours-launcher "$build/bin/oshrun -n {n}" \
  --ours-programs "$build/bench/ours" --limit-programs "$build/bench/raw" $peer_option --output "$build/bench" "$@"
