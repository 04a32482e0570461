#!/usr/bin/env bash
# Builds the RPM packages of the source tree around this script, of the committed files.
# Usage: build.sh [FOLDER [options of rpmbuild]]   (default: build/rpm of the tree)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
top=$(realpath -m "${1:-$root/build/rpm}")
[ $# -eq 0 ] || shift
spec=$root/packaging/rpm/shmemx.spec
version=$(sed -n 's/^Version: *//p' "$spec")
mkdir -p "$top/SOURCES"
git -C "$root" archive --prefix="shmemx-$version/" --output="$top/SOURCES/shmemx-$version.tar.gz" HEAD
rpmbuild -bb --define "_topdir $top" "$@" "$spec"
find "$top/RPMS" -name '*.rpm'
