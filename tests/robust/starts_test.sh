#!/bin/sh
# starts_test.sh CASE: many starts, and programs that are linked and loaded in different ways.
# ROBUST_STARTS multiplies the numbers of starts.
. "$(dirname "$0")/common.sh"
times=${ROBUST_STARTS:-1}

milliseconds() { date +%s%3N; }
build() {  # NAME FLAGS...: builds robust_pe
  name=$1
  shift
  "$OSHCC" -O1 "$@" -o "$name" "$SOURCES/robust_pe.c" "$SOURCES/blocking.c" "$SOURCES/children.c" >build.log 2>&1
}
many() {  # COUNT PES COMMAND...
  count=$1
  n=$2
  shift 2
  for turn in $(seq "$count"); do
    run 60 "$OSHRUN" -n "$n" --timeout 50 "$@"
    expect_ok "start $turn of $count with $n PEs: $*"
  done
}

case_many() {
  many $((100 * times)) 2 "$pe" work
  many $((3 * times)) 64 "$pe" work
}

# PEs may call shmem_init up to five seconds apart.
case_delayed() {
  for turn in $(seq $((2 * times))); do
    run 60 "$OSHRUN" -n 8 --timeout 50 "$pe" delayed 5
    expect_ok "delayed by up to 5 s, turn $turn"
  done
  for turn in $(seq $((5 * times))); do
    run 60 "$OSHRUN" -n 16 --timeout 50 "$pe" delayed 0.3
    expect_ok "delayed by up to 0.3 s, turn $turn"
  done
}

# Addresses that differ between PEs, and equal ones.
case_linked() {
  printf 'int main(void) { return 0; }\n' >empty.c
  for flags in '-fPIE -pie' '-fno-pie -no-pie' '-fPIE -pie -Wl,-z,norelro' '-fPIE -pie -Wl,-z,now' '-flto' '-fPIE -pie -Wl,-z,lazy -s'; do
    build program $flags || { cat build.log; die "cannot build with $flags"; }
    many $((10 * times)) 3 ./program work
    run 30 "$OSHRUN" -n 2 --timeout 20 ./program children traffic
    expect_ok "children, $flags"
    if setarch -R true 2>/dev/null; then
      many $((3 * times)) 3 setarch -R ./program work
      run 30 setarch -R "$OSHRUN" -n 3 --timeout 20 ./program work
      expect_ok "without randomized addresses, $flags"
    fi
  done
}

# The library is found by a relative path, and the program changes its directory before the start.
case_relative_path() {
  mkdir lib
  cp -P "$(dirname "$LIBRARY")"/libshmemx*.so* lib/
  cat >moves.c <<'END'
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  if (chdir("/") != 0) return 9;
  shmem_init();
  shmem_barrier_all();
  if (shmem_my_pe() == 0) puts("ok moved");
  shmem_finalize();
  return 0;
}
END
  cc -I"$INCLUDES" -o moves moves.c -Llib -lshmemx || die 'cannot compile'
  for transport in tcp ucx ofi; do
    [ $transport = tcp ] || [ -e lib/libshmemx_$transport.so ] || continue
    LD_LIBRARY_PATH=lib SHMEMX_PES_PER_NODE=1 SHMEMX_TRANSPORT=$transport run 30 "$OSHRUN" -n 2 --timeout 20 ./moves
    expect_ok "a relative path, $transport"
  done
}

# A second copy of the library in a process is refused with a line, whichever comes first. A first one in another link
# namespace works, without static data.
case_two_copies() {
  cat >part.c <<'END'
#include <shmem.h>
int part(void) { shmem_init(); shmem_barrier_all(); shmem_finalize(); return 0; }
END
  cat >whole.c <<'END'
#include <dlfcn.h>
#include <shmem.h>
#include <stdio.h>
int main(int argc, char **argv) {
  shmem_init();
  void *const module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (argc != 2 || module == NULL) { fprintf(stderr, "%s\n", dlerror()); return 9; }
  const int rc = ((int (*)(void))dlsym(module, "part"))();
  shmem_barrier_all();
  if (shmem_my_pe() == 0) puts("ok whole");
  shmem_finalize();
  return rc;
}
END
  cat >space.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
static long global = 5;
int main(int argc, char **argv) {
  void *const space = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW | RTLD_LOCAL);
  if (space == NULL) { fprintf(stderr, "%s\n", dlerror()); return 9; }
  ((void (*)(void))dlsym(space, "shmem_init"))();
  const int me = ((int (*)(void))dlsym(space, "shmem_my_pe"))();
  long *const word = ((void *(*)(size_t))dlsym(space, "shmem_malloc"))(8);
  ((void (*)(long *, long, int))dlsym(space, "shmem_long_p"))(argc > 2 ? &global : word, 7, 0);
  ((void (*)(void))dlsym(space, "shmem_barrier_all"))();
  if (me == 0 && *word == 7) puts("ok space");
  fflush(stdout);
  ((void (*)(void))dlsym(space, "shmem_finalize"))();
  return global != 5;
}
END
  cc -shared -fPIC -I"$INCLUDES" -o part_shared.so part.c "$LIBRARY" -Wl,-rpath,"$(dirname "$LIBRARY")" || die 'cannot compile'
  cc -shared -fPIC -I"$INCLUDES" -o part_static.so part.c "$STATIC_LIBRARY" -lstdc++ -lm -ldl -lpthread -Wl,--exclude-libs,ALL -Wl,-Bsymbolic || die 'cannot compile'
  "$OSHCC" -o whole_shared whole.c -ldl || die 'cannot compile'
  cc -I"$INCLUDES" -o whole_static whole.c "$STATIC_LIBRARY" -lstdc++ -lm -ldl -lpthread || die 'cannot compile'
  cc -o space space.c -ldl || die 'cannot compile'
  run 30 "$OSHRUN" -n 2 --timeout 20 ./whole_shared ./part_shared.so
  expect_ok 'one copy'
  for pair in 'whole_shared part_static' 'whole_static part_shared'; do
    set -- $pair
    run 30 "$OSHRUN" -n 2 --timeout 20 "./$1" "./$2.so"
    expect_refusal "$pair" 'another copy of this library has been started in this process, and this one, in /.* link all parts of the program with one shared library'
  done
  run 30 "$OSHRUN" -n 2 --timeout 20 ./space "$LIBRARY"
  expect_ok 'a link namespace of its own'
  [ "$(grep -c 'static data stay private on all PEs: PE 0 has loaded the library into a link namespace of its own' err)" = 1 ] || die 'not one line'
  run 30 "$OSHRUN" -n 2 --timeout 20 ./space "$LIBRARY" global
  expect_refusal 'a global, from a link namespace' 'it is a global .*, which is private since PE 0 has loaded the library into a link namespace'
}

case_linked_statically() {
  "$OSHCC" --help 2>&1 | grep -q -- '-static' || [ -f "$STATIC_LIBRARY" ] || skip 'no static library'
  for flags in '-static -fno-pie -no-pie' '-static-pie -fPIE'; do
    "${CC:-cc}" -O1 $flags -I"$INCLUDES" -o program "$SOURCES/robust_pe.c" "$SOURCES/blocking.c" "$SOURCES/children.c" \
      "$STATIC_LIBRARY" -lstdc++ -lpthread -ldl -lm >build.log 2>&1 || { cat build.log; skip "cannot link with $flags"; }
    many $((10 * times)) 3 ./program work
    run 30 "$OSHRUN" -n 2 --timeout 20 ./program children traffic
    expect_ok "children, $flags"
    # PMIx and plug-ins are loaded at run time, which a static program cannot do.
    if command -v mpirun.openmpi >/dev/null; then
      run 60 mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 ./program work
      expect_refusal "under Open MPI, $flags" 'linked program cannot load: link it dynamically' "Start the program with 'oshrun -n 2'"
    fi
    for transport in ucx ofi; do
      plugin=$(dirname "$LIBRARY")/libshmemx_$transport.so
      [ -e "$plugin" ] && cp "$plugin" .
      SHMEMX_PES_PER_NODE=1 SHMEMX_TRANSPORT=$transport run 30 "$OSHRUN" -n 2 --timeout 20 ./program work
      expect_refusal "over $transport, $flags" "$transport \\(a statically linked program cannot load plug-ins"
    done
  done
}

case_sanitized() {
  for flags in '-fsanitize=address' '-fsanitize=undefined' '-fsanitize=address,undefined' '-fsanitize=thread'; do
    build program -g $flags || { echo "$flags: cannot build"; continue; }
    ./program no_scenario >/dev/null 2>&1
    [ $? = 2 ] || { echo "$flags: its programs do not run here"; continue; }
    run 60 "$OSHRUN" -n 3 --timeout 50 ./program work 2
    expect_ok "program built with $flags"
    grep -q 'Sanitizer' err && die "$flags: a report"
    echo "$flags: works"
  done
  return 0
}

case_preloaded_allocators() {
  found=0
  for library in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
    path=$(ldconfig -p 2>/dev/null | sed -n "s/.* => \(.*$library\)$/\1/p" | head -n 1)
    [ -n "$path" ] || { echo "$library is not installed"; continue; }
    found=1
    for scenario in 'work 3' 'children traffic'; do
      LD_PRELOAD=$path run 60 "$OSHRUN" -n 3 --timeout 50 "$pe" $scenario
      expect_ok "$library, $scenario"
    done
    echo "$library: works"
  done
  [ $found = 1 ] || skip 'no other allocator is installed'
}

case_valgrind() {
  need valgrind
  run 120 "$OSHRUN" -n 2 --timeout 110 valgrind -q --error-exitcode=9 --leak-check=no "$pe" work
  grep -q 'unhandled instruction\|Unrecognised instruction' err && skip 'this valgrind does not know all instructions of this machine'
  expect_ok 'under valgrind'
  SHMEM_DEBUG=1 run 60 "$OSHRUN" -n 2 --timeout 50 valgrind -q --leak-check=no "$pe" fill 10000000 100
  expect_ok 'under valgrind, heap used up'
  grep -q 'under valgrind the default heap is 67108864 bytes' err || die 'the smaller heap is not reported'
  grep -q '^ok fill 6 blocks' out || die 'the heap is not that of valgrind'
  grep -q '^==' err && die 'valgrind reports something'
  return 0
}

# A tool that intercepts calls between the program and the library.
case_interposed() {
  cat >tool.c <<'END'
#include <pshmem.h>
#include <shmem.h>
#include <stdio.h>
static int puts_seen;
void shmem_long_p(long *dest, long value, int pe) { ++puts_seen; pshmem_long_p(dest, value, pe); }
void shmem_init(void) { pshmem_init(); }
void shmem_finalize(void) {
  if (pshmem_my_pe() == 0) fprintf(stderr, "tool: %d puts\n", puts_seen);
  pshmem_finalize();
}
END
  "$OSHCC" -shared -fPIC -o tool.so tool.c 2>build.log || { cat build.log; die 'cannot build the tool'; }
  run 30 "$OSHRUN" -n 3 --timeout 20 -x LD_PRELOAD="$dir/tool.so" "$pe" work
  expect_ok 'preloaded tool'
  grep -Eq '^tool: [1-9][0-9]* puts' err || die 'the tool intercepted no call'
}

# The library does not replace functions or signal handlers of the process.
case_no_interposition() {
  need nm
  nm -D --defined-only "$LIBRARY" | awk '{ print $NF }' | sed 's/@.*//' >defined
  nm -D --undefined-only "$LIBRARY" | awk '{ print $NF }' | sed 's/@.*//' >wanted
  grep -qx shmem_init defined || die 'the symbols of the library cannot be read'
  memory='malloc|calloc|realloc|free|posix_memalign|aligned_alloc|memalign|valloc|mmap|mmap64|munmap|mremap|brk|sbrk|madvise'
  process='fork|vfork|sigaction|signal|memcpy|memmove|open|close|exit|_exit|abort|__malloc_hook|_Znwm|_ZdlPv|_Znam|_ZdaPv'
  taken=$(grep -Ex "$memory|$process" defined)
  [ -z "$taken" ] || die "the library defines $taken"
  # Names reserved for the C++ library cannot collide with a program's; the standard's handles are symbols, too. _Fork and
  # mlockall stand before the C library's, which they call.
  handles='SHMEM_(CTX_DEFAULT|CTX_INVALID|TEAM_INVALID|TEAM_SHARED|TEAM_WORLD)'
  legacy='start_pes|_?my_pe|_?num_pes|shmalloc|shfree|shrealloc|shmemalign'
  other=$(grep -Ev "^p?shmemx?_|^p?($legacy)$|^$handles$|^(_Fork|mlockall)$|^_ZZ?NK?St" defined | head -n 5)
  [ -z "$other" ] || die "the library exports names that are not OpenSHMEM's: $other"
  # sigaction is for the moment in which static data move, and with sigaltstack for SHMEM_BACKTRACE;
  # setup.signals_untouched checks what it leaves.
  used=$(grep -Ex 'signal|__malloc_hook|shm_open|shmget|mkstemp|tmpfile' wanted)
  [ -z "$used" ] || die "the library calls $used"
}

case_two_programs() {
  cat >one.c <<'END'
#include <shmem.h>
#include <stdio.h>
static long big[5000];
int main(void) {
  shmem_init();
  long *heap = shmem_calloc(1, sizeof *heap);
  shmem_long_atomic_add(heap, 1, 0);
  shmem_barrier_all();
  if (GLOBAL) shmem_long_p(&big[1], 2, 0);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) printf("ok %ld %ld\n", *heap, big[1]);
  shmem_finalize();
  return 0;
}
END
  { echo 'static long other[90000]; long *more(void) { return other; }'; cat one.c; } >two.c
  "$OSHCC" -DGLOBAL=0 -o one one.c && "$OSHCC" -DGLOBAL=0 -o two two.c || die 'cannot build'
  run 30 "$OSHRUN" --timeout 20 -n 2 ./one : -n 1 ./two
  expect_ok 'heap of two programs'
  grep -q '^ok 3 0$' out || die 'the heap is shared by two programs'
  "$OSHCC" -DGLOBAL=1 -o one one.c && "$OSHCC" -DGLOBAL=1 -o two two.c || die 'cannot build'
  run 30 "$OSHRUN" --timeout 20 -n 2 ./one : -n 1 ./two
  expect_refusal 'globals of two programs' 'shmem_long_p: .*dest.* not (a )?symmetric'
  echo "globals of two programs: $(head -n 1 err)"
}

# Many PEs: checks the results, and prints the time of a start.
case_many_pes() {
  for n in 33 256; do
    begin=$(milliseconds)
    run 150 "$OSHRUN" -n $n --timeout 140 "$pe" work
    expect_ok "$n PEs"
    echo "$n PEs: the whole work took $(($(milliseconds) - begin)) ms"
  done
  for heap in 64M 64G; do
    begin=$(milliseconds)
    SHMEM_SYMMETRIC_SIZE=$heap run 100 "$OSHRUN" -n 256 --timeout 90 "$pe" footprint
    expect_ok "256 PEs with $heap of heap"
    echo "heap of $heap: $(($(milliseconds) - begin)) ms, $(sed 's/^ok //' out)"
  done
}

run_case "$@"
