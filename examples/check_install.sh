#!/usr/bin/env bash
# Installs into an empty prefix and uses the library from there as an outsider does: through
# pkg-config, through find_package, through oshcc shared and static, and by a tree that was moved.
#
# Usage: check_install.sh BUILD_DIRECTORY EXAMPLES_DIRECTORY
set -euo pipefail

build=$(realpath "$1")
examples=$(realpath "$2")
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
work="$top/my füles" # nothing may depend on a plain path
mkdir "$work"
cd "$work"

fail() {
  echo "check_install.sh: $*" >&2
  exit 1
}

# expect_hello PROGRAM: three PEs, each says its line.
expect_hello() {
  env -u LD_LIBRARY_PATH "$prefix/bin/oshrun" -n 3 "$1" >output || fail "$1 failed"
  [ "$(sort output)" = "$(printf 'Hello from PE %s\n' '0 of 3, greeted by PE 2' '1 of 3, greeted by PE 0' '2 of 3, greeted by PE 1')" ] ||
    fail "$1 printed: $(cat output)"
  echo "ok: $1"
}

cmake --install "$build" --prefix "$work/first" >install.log || { cat install.log; fail "cmake --install failed"; }
mv first moved # nothing in the tree may remember where it was installed
prefix=$work/moved
for file in bin/oshrun bin/oshcc bin/oshc++ bin/oshcxx bin/oshCC bin/shmem_info bin/shmem_perf bin/shmem_trace_join include/shmem.h include/shmemx.h \
  include/pshmem.h include/mpp/shmem.h include/shmemx/shmemx.hpp share/doc/shmemx/README.md share/man/man1/oshcc.1 share/man/man1/oshrun.1 share/man/man1/shmem_perf.1 \
  share/man/man3/shmem_put.3 share/man/man7/shmemx.7 share/doc/shmemx/html/index.html share/bash-completion/completions/oshrun \
  share/bash-completion/completions/oshcc share/zsh/site-functions/_shmemx; do
  [ -e "$prefix/$file" ] || fail "$file was not installed"
done
for page in README.md docs/README.md docs/tutorial.md; do
  file=$prefix/share/doc/shmemx/$page
  for path in $(grep -oE '\]\([^)]+\)' "$file" | tr -d '](()' | grep -v : | sed 's/#.*//' | sort -u); do
    [ -e "$(dirname "$file")/$path" ] || fail "the installed $page names '$path', which is not installed"
  done
done
grep -q '^SHMEMX_API void shmem_long_p(long \*dest_, long value_, int pe_);$' "$prefix/include/shmem.h" ||
  fail "the installed shmem.h has no plain prototypes"
if command -v man >/dev/null && man -w ls >/dev/null 2>&1; then # not where manual pages are left out of the system
  for page in shmem_put shmem_long_p shmem_ctx_int_atomic_add shmemx; do
    man -M "$prefix/share/man" -w "$page" >/dev/null || fail "man does not find $page"
  done
fi
libdir=$(dirname "$(find "$prefix" -name 'libshmemx.so')")
export PKG_CONFIG_PATH=$libdir/pkgconfig
cp "$examples/hello.c" .
"$prefix/bin/oshrun" -n 2 "$prefix/bin/shmem_perf" put_latency -i 10 --csv | grep -q '^put_latency,8,0,1,10,.*,mapped$' ||
  fail "the installed shmem_perf does not measure"

"$prefix/bin/oshc++" -std=c++20 "$examples/cpp/heat.cpp" -o heat && "$prefix/bin/oshrun" -n 3 ./heat || fail "the C++ header does not work"

"$prefix/bin/oshcc" -O2 hello.c -o by_oshcc
expect_hello ./by_oshcc

"$prefix/bin/oshcc" -O2 -static hello.c -o by_oshcc_static
file -L by_oshcc_static | grep -q 'statically linked' || fail "oshcc -static did not link statically"
expect_hello ./by_oshcc_static

# -lsma and -loshmem are this library, even if the user names a directory that holds another one of that name.
mkdir theirs
echo 'int nothing;' | gcc -shared -x c - -Wl,-soname,libtheirs.so -o theirs/liboshmem.so
cp theirs/liboshmem.so theirs/libsma.so
for name in sma oshmem; do
  LIBRARY_PATH=$work/theirs "$prefix/bin/oshcc" hello.c -L"$work/theirs" -l$name -o by_$name
  readelf -d by_$name | grep -q 'NEEDED.*libtheirs' && fail "oshcc -l$name links another library"
  expect_hello ./by_$name
  "$prefix/bin/oshcc" -static hello.c -l$name -o by_${name}_static
  expect_hello ./by_${name}_static
  [ ! -e "$libdir/lib$name.so" ] || fail "lib$name.so lies among the libraries"
done
eval "LIBRARY_PATH='$work/theirs' gcc hello.c $("$prefix/bin/oshcc" --showme:compile) -loshmem $("$prefix/bin/oshcc" --showme:link) -o by_showme"
readelf -d by_showme | grep -q 'NEEDED.*libtheirs' && fail "-loshmem with the words of oshcc --showme:link links another library"
expect_hello ./by_showme

cp "$examples/pi.cpp" .
"$prefix/bin/oshc++" -O2 pi.cpp -o pi
"$prefix/bin/oshrun" -n 3 ./pi 200 | grep verified >/dev/null || fail "pi, built by oshc++, failed"

# pkg-config quotes its words for the shell.
eval "gcc hello.c $(pkg-config --cflags --libs shmemx)" '-Wl,-rpath,"$libdir"' -o by_pkg_config
expect_hello ./by_pkg_config
eval "gcc -static hello.c $(pkg-config --static --cflags --libs shmemx)" -o by_pkg_config_static
expect_hello ./by_pkg_config_static

# pkg-config under other names: not installed by default, since Open MPI has an oshmem.pc.
for name in oshmem sma; do
  [ ! -e "$PKG_CONFIG_PATH/$name.pc" ] || fail "$name.pc is installed though nobody asked for it"
  cp "$build/$name.pc" "$PKG_CONFIG_PATH"
  eval "gcc hello.c $(pkg-config --cflags --libs $name)" '-Wl,-rpath,"$libdir"' -o by_pkg_config_$name
  expect_hello ./by_pkg_config_$name
done

mkdir project
cat >project/CMakeLists.txt <<'PROJECT'
cmake_minimum_required(VERSION 3.16)
project(outsider C CXX)
find_package(shmemx REQUIRED)
foreach(kind shmemx shmemx_static)
  add_executable(by_cmake_${kind} ../hello.c)
  target_link_libraries(by_cmake_${kind} PRIVATE shmemx::${kind})
endforeach()
if(NOT EXISTS "${SHMEMX_OSHRUN}")
  message(FATAL_ERROR "SHMEMX_OSHRUN is '${SHMEMX_OSHRUN}'")
endif()
PROJECT
cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1 &&
  cmake --build project/build >>cmake.log 2>&1 || { cat cmake.log; fail "find_package(shmemx) does not serve a project"; }
expect_hello project/build/by_cmake_shmemx
expect_hello project/build/by_cmake_shmemx_static

mkdir standard_names
cat >standard_names/CMakeLists.txt <<'PROJECT'
cmake_minimum_required(VERSION 3.16)
project(standard_names C CXX)
find_package(OpenSHMEM 1.4 REQUIRED)
add_executable(by_target ../hello.c)
target_link_libraries(by_target PRIVATE OpenSHMEM::OpenSHMEM_C)
add_executable(by_variables ../hello.c)
target_include_directories(by_variables PRIVATE ${OPENSHMEM_INCLUDE_DIRS})
target_link_libraries(by_variables PRIVATE ${OPENSHMEM_LIBRARIES})
foreach(name OpenSHMEM OPENSHMEM SHMEM)
  if(NOT ${name}_FOUND OR NOT ${name}_VERSION VERSION_EQUAL 1.6 OR NOT EXISTS "${${name}_C_COMPILER}" OR NOT EXISTS "${${name}_EXEC}" OR
     NOT EXISTS "${${name}_INCLUDE_DIR}/shmem.h")
    message(FATAL_ERROR "the names of ${name} are not complete")
  endif()
endforeach()
find_package(OpenSHMEM 1.7 QUIET)
if(OpenSHMEM_FOUND)
  message(FATAL_ERROR "OpenSHMEM 1.7 is found")
endif()
PROJECT
cmake -S standard_names -B standard_names/build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1 &&
  cmake --build standard_names/build >>cmake.log 2>&1 || { cat cmake.log; fail "find_package(OpenSHMEM) does not serve a project"; }
expect_hello standard_names/build/by_target
expect_hello standard_names/build/by_variables

# The tutorial's programs, as they are installed: by make with oshcc, and as a CMake project.
cp -r "$prefix/share/doc/shmemx/examples/tutorial" tutorial
PATH=$prefix/bin:$PATH make -C tutorial run PES=3 >make.log 2>&1 || { cat make.log; fail "make does not build and run the tutorial"; }
[ "$(grep -c '^== ' make.log)" = "$(find tutorial -name '[0-9]*.c' | wc -l)" ] || fail "make did not run all programs of the tutorial"
echo "ok: the tutorial, by make"
cmake -S tutorial -B tutorial/build -DCMAKE_PREFIX_PATH="$prefix" >tutorial.log 2>&1 && cmake --build tutorial/build >>tutorial.log 2>&1 &&
  ctest --test-dir tutorial/build --output-on-failure >>tutorial.log 2>&1 || { cat tutorial.log; fail "the tutorial is no project for CMake"; }
echo "ok: the tutorial, by CMake"
