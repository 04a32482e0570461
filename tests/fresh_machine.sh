#!/usr/bin/env bash
# Follows README.md and docs/tutorial.md word for word on a fresh machine: a Debian of its own with a C compiler and make,
# on which nothing is installed but the library's packages; an ordinary user, no network but the loopback device. Not one of
# the usual tests: it needs root, debootstrap, and a mirror, from which it takes some 150 MB.
#
# Usage: fresh_machine.sh [BUILD_DIRECTORY [SUITE [MIRROR]]]     (default: build bookworm, and debootstrap's own mirror)
set -euo pipefail

project=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "${1:-$project/build}")
work=$(mktemp -d)
machine=$work/machine
trap 'rm -rf "$work"' EXIT
for tool in debootstrap cpack unshare ip; do
  command -v "$tool" >/dev/null || { echo "fresh_machine.sh: $tool is missing" >&2; exit 1; }
done

debootstrap --variant=minbase --include=gcc,libc6-dev,make,man-db "${2:-bookworm}" "$machine" ${3:+"$3"} \
  >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; exit 1; }
(cd "$work" && cpack -G DEB -B "$work/packages" --config "$build/CPackConfig.cmake") >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
for name in libshmemx1 libshmemx-dev shmemx-bin shmemx-doc; do cp "$work/packages/$name"_*.deb "$machine/tmp"; done
chroot "$machine" sh -c 'dpkg -i /tmp/*.deb && useradd --create-home newcomer' >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }

# shellcheck disable=SC2016  # the shell inside expands them
# The machine's own processes, mounts and network; its files go with the work folder.
unshare --mount --pid --net --ipc --uts --fork --kill-child sh -c '
  ip link set lo up && mount -t proc proc "$1/proc" && exec python3 "$2/tests/docs/follow_pages.py" --machine "$1"
' - "$machine" "$project"
