#!/usr/bin/env bash
# Builds everything and runs all tests: under AddressSanitizer with UndefinedBehaviorSanitizer, under
# ThreadSanitizer, and last as released. Arguments go to ctest, e.g. tests/run.sh -L unit.
# The status is not zero if a test failed in any of the three.
#
# TEST_PRESETS="release" runs a choice of them.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
read -r -a presets <<<"${TEST_PRESETS:-asan tsan release}"
cd "$root"

"$root/cmake/install_packages.sh" build test

build_directory() {
  if [ "$1" = release ]; then echo "$root/build"; else echo "$root/build/$1"; fi
}

# examples/run.sh may have configured the same folder without tests.
configure_and_build() {
  local preset=$1 build
  build=$(build_directory "$preset")
  if ! grep -qs '^SHMEMX_BUILD_TESTS:BOOL=ON$' "$build/CMakeCache.txt" || [ ! -f "$build/build.ninja" ]; then
    cmake --preset "$preset"
  fi
  cmake --build "$build"
}

# The label `serial` stands for tests that measure or use up the machine; they carry RUN_SERIAL.
run_tests() {
  local preset=$1
  shift
  ctest --test-dir "$(build_directory "$preset")" --output-on-failure --no-label-summary -j "$(nproc)" "$@"
}

for preset in "${presets[@]}"; do
  echo "== build: $preset"
  configure_and_build "$preset"
done

status=0
closing_of_failure=
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for preset in "${presets[@]}"; do
  echo "== tests: $preset"
  preset_status=0
  run_tests "$preset" "$@" 2>&1 | tee "$log" || preset_status=${PIPESTATUS[0]}
  if [ "$preset_status" -ne 0 ]; then
    status=$preset_status
    closing_of_failure=$(grep -E 'tests passed, [0-9]+ tests? failed out of' "$log" | tail -n 1 || true)
    closing_of_failure="== failed: $preset"$'\n'"$closing_of_failure"
  fi
done
# The last closing line must not say "100%" when an earlier run failed.
if [ "$status" -ne 0 ]; then echo "$closing_of_failure"; fi
exit "$status"
