#!/usr/bin/env bash
# tests/run.sh on a small project: tests that fail once run again, alone, unless they crash, have a report of a sanitizer,
# or are many. Usage: run_again_test.sh PROJECT CASE
project=$1
# shellcheck source=tests/support/script.sh
. "$1/tests/support/script.sh"

# make_project TEST...: a project with these tests. `once` and `report` fail in their first run only, the latter with a
# report; `crash` dies by a signal, `never` always fails, `good` passes.
make_project() {
  mkdir -p "a project/tests" "a project/cmake"
  cp "$project/tests/run.sh" "a project/tests/"
  printf '#!/bin/sh\n' >"a project/cmake/install_packages.sh"
  cat >"a project/cmake/one.sh" <<'END'
#!/bin/sh
case $1 in
  good) exit 0 ;;
  never) echo "it never passes"; exit 1 ;;
esac
if [ -f "$1.has_run" ]; then exit 0; fi
touch "$1.has_run"
case $1 in
  report*) echo "ERROR: AddressSanitizer: heap-use-after-free" ;;
  crash*) kill -SEGV $$ ;;
  *) echo "it passes the second time" ;;
esac
exit 1
END
  chmod +x "a project/cmake"/*.sh "a project/tests/run.sh"
  cat >"a project/CMakePresets.json" <<'END'
{"version": 3, "configurePresets": [{"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build",
  "cacheVariables": {"SHMEMX_BUILD_TESTS": {"type": "BOOL", "value": "ON"}}}]}
END
  {
    printf 'cmake_minimum_required(VERSION 3.20)\nproject(small NONE)\nenable_testing()\n'
    for name in "$@"; do printf 'add_test(NAME %s COMMAND "${CMAKE_SOURCE_DIR}/cmake/one.sh" %s)\n' "$name" "$name"; done
  } >"a project/CMakeLists.txt"
  run 60 env -u TEST_PRESETS "a project/tests/run.sh"
}

case_passes() {
  make_project good once1 once2
  expect_rc 0
  grep -q '^== failed in the run of release, passed alone: once1 once2' out || die "the last lines do not name the tests"
}

case_never() {
  make_project good once never
  [ "$rc" != 0 ] || die "a test that always fails is taken as passed"
  grep -q '^== failed: release' out || die "the last lines do not tell of the failure"
  tail -n 1 out | grep -q '33% tests passed, 2 tests failed out of 3' || die "the last line is another"
}

case_counts_at_once() {
  for name in crash report; do
    rm -rf "a project"
    make_project good "$name"
    [ "$rc" != 0 ] || die "$name runs again"
    ! grep -q '== again' out || die "$name runs again"
  done
}

case_many() {
  make_project once1 once2 once3 once4
  [ "$rc" != 0 ] || die "four tests run again"
}

run_case "$2"
