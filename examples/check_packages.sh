#!/usr/bin/env bash
# Makes the Debian packages and checks their contents and dependencies: the library needs only libc, each network's library is
# needed by its plug-in only, all links of the README lead somewhere, and what the packages hold works together.
#
# Usage: check_packages.sh BUILD_DIRECTORY EXAMPLES_DIRECTORY. Status 77 without dpkg.
set -euo pipefail

build=$(realpath "$1")
examples=$(realpath "$2")
for tool in dpkg-deb dpkg-shlibdeps; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
  echo "check_packages.sh: $*" >&2
  exit 1
}

cpack -G DEB -B "$work" --config "$build/CPackConfig.cmake" >log 2>&1 || { cat log; fail "cpack failed"; }

package() { echo "$1"_*.deb; }
# depends PACKAGE: names of the packages needed, without versions
depends() { dpkg-deb -f "$(package "$1")" Depends | tr ',' '\n' | sed 's/ *(.*//; s/^ *//' | sort | xargs; }
for name in libshmemx1 libshmemx-dev shmemx-bin shmemx-doc; do
  [ -f "$(package $name)" ] || fail "there is no package $name: $(ls -- *.deb)"
done
[ "$(depends libshmemx1)" = libc6 ] || fail "libshmemx1 needs $(depends libshmemx1)"
[ "$(depends shmemx-bin)" = "libc6 libshmemx1" ] || fail "shmemx-bin needs $(depends shmemx-bin)"
[ "$(depends libshmemx-dev)" = libshmemx1 ] || fail "libshmemx-dev needs $(depends libshmemx-dev)"
[ -z "$(depends shmemx-doc)" ] || fail "shmemx-doc needs $(depends shmemx-doc)"
for plugin in ucx:libucx0 ofi:libfabric1; do
  [ -f "$build/lib/libshmemx_${plugin%:*}.so" ] || continue
  needed=$(depends "libshmemx1-${plugin%:*}")
  [ "$needed" = "$(printf '%s\n' libc6 libshmemx1 "${plugin#*:}" | sort | xargs)" ] || fail "libshmemx1-${plugin%:*} needs $needed"
done

# No file belongs to two packages; programs that Open MPI has as well are diverted by the package that holds them.
for file in *.deb; do dpkg-deb -c "$file" | awk '$6 !~ /\/$/ { print $6 }'; done | sort | uniq -d >twice
[ ! -s twice ] || fail "in two packages: $(xargs <twice)"
for file in *.deb; do
  dpkg-deb --control "$file" "control.${file%%_*}"
  for program in $(dpkg-deb -c "$file" | sed -n 's|.* \./usr/bin/\(osh[^ ]*\).*|\1|p'); do
    for script in preinst postrm; do
      grep -q "for name in.* $program[ ;].*do" "control.${file%%_*}/$script" || fail "$file does not divert $program in $script"
      grep -q -- "--package ${file%%_*} " "control.${file%%_*}/$script" || fail "$script of $file diverts for another package"
    done
  done
done

for file in *.deb; do dpkg-deb -x "$file" root; done
# The dependencies of this package are not looked up in its files.
dpkg-deb -c "$(package libshmemx-dev)" | awk '$1 ~ /^-/ && $6 !~ /\.a$/ { print "root/" $6 }' >files
binaries=$(xargs grep -lP '^\x7fELF' <files || true)
[ -s files ] && [ -z "$binaries" ] || fail "libshmemx-dev holds programs or libraries: $binaries"
documents=root/usr/share/doc/shmemx
for path in $(grep -oE '\]\([^):]+\)' "$documents/README.md" | tr -d '](()' | sort -u); do
  [ -e "$documents/$path" ] || fail "the installed README names '$path', which is not installed"
done
for file in *.deb; do
  [ -s "root/usr/share/doc/${file%%_*}/copyright" ] || fail "$file holds no copyright"
done

root/usr/bin/oshcc -O2 "$examples/hello.c" -o hello
# grep reads all: oshrun must not lose its reader.
root/usr/bin/oshrun -n 2 ./hello | grep "PE 1 of 2" >/dev/null || fail "hello does not run"

# Only the tools read the topology; they do without hwloc.
echo "not a library" >libhwloc.so.15
topology=$(LD_LIBRARY_PATH=$work root/usr/bin/shmem_info | grep -A 1 '^topology') || fail "shmem_info needs libhwloc"
grep -Eq 'hwloc cannot be loaded|built without hwloc' <<<"$topology" || fail "shmem_info does not say that hwloc is missing: $topology"
