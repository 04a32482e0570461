#!/usr/bin/env bash
# Builds the library, runs the tests, and prints how long each part took. Arguments are passed to ctest, e.g.
# tests/run.sh -L unit. The status is not zero if a test failed in any configuration.
#
# The configuration is `release`. TEST_PRESETS="release asan tsan" runs several, as .ci/run does: asan is
# AddressSanitizer with UndefinedBehaviorSanitizer, tsan is ThreadSanitizer. docs/testing.md lists what runs where.
# Up to three tests that fail without a crash or a report of a sanitizer run once more, alone; if they pass, the status is
# 0, and the last lines name them.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
read -r -a presets <<<"${TEST_PRESETS:-release}"
cd "$root"

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

# There are four slots for each core. A test takes as many as its PROCESSORS: a job of several PEs four, one process two,
# one that mostly waits one. Tests that measure or use all resources have the label `serial` and run alone.
run_tests() {
  local preset=$1
  shift
  ctest --test-dir "$(build_directory "$preset")" --output-on-failure --no-label-summary -j $((4 * $(nproc))) "$@"
}

# timed PART COMMAND...: runs the command and notes how long it took; returns its status.
parts=()
timed() {
  local part=$1 start=$SECONDS status=0
  shift
  echo "== $part"
  "$@" || status=$?
  parts+=("$(printf '== %-16s %3d min %02d s' "$part" $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)))")
  return "$status"
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
run_and_log() {
  local preset=$1
  shift
  run_tests "$preset" "$@" 2>&1 | tee "$log"
}

# Prints all that tests that failed have printed, each behind the line with its name.
output_of_failures() {
  awk '/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / { keeps = /\*\*\*/ && !/\*\*\*(Skipped|Not Run)/ }
       /^ +Start +[0-9]+: / || /^[0-9]+% tests passed/ { keeps = 0 }
       keeps' "$log"
}

# Prints the last lines of up to three tests that failed: in a long log they stand far above its end.
show_failures() {
  output_of_failures | awk '/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / { order[++failures] = $0; next }
       NF { kept[failures, count[failures]++ % 16] = $0 }
       END { for (i = 1; i <= 3 && i in order; ++i) {
               print order[i]
               for (j = count[i] > 16 ? count[i] - 16 : 0; j < count[i]; ++j) print "  " kept[i, j % 16] } }'
}

# Where ctest lists what has failed.
failed_tests() { echo "$(build_directory "$1")/Testing/Temporary/LastTestsFailed.log"; }

# may_run_again PRESET: whether what failed may have done so by the load of the machine: few tests, of which none crashed
# and none has a report of a sanitizer, which count the first time.
most_again=3
may_run_again() {
  local failed
  failed=$(failed_tests "$1")
  [ -s "$failed" ] && [ "$(wc -l <"$failed")" -le "$most_again" ] &&
    ! output_of_failures | grep -qE '\*\*\*Exception|Sanitizer|runtime error:|Segmentation fault|signal (4|6|7|8|11)\b'
}

# Runs the tests that failed once more, one after the other.
run_again() {
  ctest --test-dir "$(build_directory "$1")" --output-on-failure --no-label-summary -j 1 --rerun-failed
}

timed packages "$root/cmake/install_packages.sh" build test
status=0
closing_of_failure=
only_alone=()
for preset in "${presets[@]}"; do
  timed "build: $preset" configure_and_build "$preset"
  preset_status=0
  timed "tests: $preset" run_and_log "$preset" "$@" || preset_status=$?
  if [ "$preset_status" -eq 0 ]; then continue; fi
  failures="$(show_failures)"$'\n'"$(grep -E 'tests passed, [0-9]+ tests? failed out of' "$log" | tail -n 1 || true)"
  if may_run_again "$preset"; then
    names=$(cut -d: -f2- "$(failed_tests "$preset")" | tr '\n' ' ')
    if timed "again: $preset" run_again "$preset"; then
      only_alone+=("== failed in the run of $preset, passed alone: $names"$'\n'"$failures")
      continue
    fi
  fi
  status=$preset_status
  closing_of_failure="== failed: $preset"$'\n'"$failures"
done

printf '%s\n' "${parts[@]}"
if [ ${#only_alone[@]} -ne 0 ]; then printf '%s\n' "${only_alone[@]}"; fi
# The last closing line must not say "100%" when an earlier configuration failed.
if [ "$status" -ne 0 ]; then echo "$closing_of_failure"; fi
exit "$status"
