#!/usr/bin/env bash
# Installs what a build needs on Debian and its relatives. Does nothing when all of it is there.
#
# Usage: install_packages.sh [build] [test] [bench]    (default: build)
set -euo pipefail

build_packages=(g++ cmake ninja-build pkg-config libboost-dev libcli11-dev nlohmann-json3-dev
  libhwloc-dev libpmix-dev libpng-dev iproute2)
test_packages=(libboost-test-dev spin binutils clang dpkg-dev file python3 procps mpich libmpich-dev
  openmpi-bin libopenmpi-dev gfortran valgrind gdb
  libjemalloc2 libtcmalloc-minimal4 libucx-dev libfabric-dev)
# Not every distribution has these. A test that needs one is skipped without it.
optional_test_packages=(slurm-wlm munge zsh)
bench_packages=(libfmt-dev openmpi-bin libopenmpi-dev mpich libmpich-dev libucx-dev libfabric-dev gnuplot-nox valgrind)

packages=("${build_packages[@]}")
optional=()
for what in "${@:-build}"; do
  case $what in
    build) ;;
    test)
      packages+=("${test_packages[@]}")
      optional+=("${optional_test_packages[@]}")
      ;;
    bench) packages+=("${bench_packages[@]}") ;;
    *)
      echo "install_packages.sh: unknown argument '$what', allowed are build, test, bench" >&2
      exit 2
      ;;
  esac
done

# Not Debian: the packages have other names there. CMake names what it does not find.
if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  for tool in c++ cmake ninja; do
    if ! command -v "$tool" >/dev/null; then
      echo "install_packages.sh: '$tool' is missing and this is no Debian-like system." >&2
      echo "Please install the equivalents of: ${packages[*]}" >&2
      exit 1
    fi
  done
  exit 0
fi

# Prints those of the named packages that are not installed. dpkg-query prints a line for each package that it knows,
# "installed:NAME" for those that are there.
not_installed() {
  local installed package
  installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package}\n' "$@" 2>/dev/null |
    sed -n 's/^installed://p' | tr '\n' ' ' || true) "
  for package in "$@"; do
    case $installed in
      *" $package "*) ;;
      *) echo "$package" ;;
    esac
  done | sort -u
}
mapfile -t missing < <(not_installed "${packages[@]}")
wanted=()
if [ "${#optional[@]}" -gt 0 ] && [ "$(id -u)" -eq 0 ]; then
  mapfile -t wanted < <(not_installed "${optional[@]}")
fi
[ "${#missing[@]}" -eq 0 ] && [ "${#wanted[@]}" -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo "install_packages.sh: these packages are missing; install them as root:" >&2
  echo "  apt-get install ${missing[*]}" >&2
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
  echo "Installing: $*"
  apt-get install -y --no-install-recommends "$@" >"$log" 2>&1
}
if [ "${#missing[@]}" -gt 0 ]; then
  if ! apt-get update >"$log" 2>&1 || ! install "${missing[@]}"; then
    tail -n 30 "$log" >&2
    echo "install_packages.sh: apt-get failed" >&2
    exit 1
  fi
fi
for package in "${wanted[@]}"; do
  if ! apt-cache show "$package" >/dev/null 2>&1; then
    echo "install_packages.sh: $package is not to be had here; the tests that need it will be skipped"
  elif ! install "$package"; then
    echo "install_packages.sh: $package cannot be installed; the tests that need it will be skipped"
  fi
done
