#!/bin/sh
# children_test.sh CASE: PEs that start processes by all means, and the diagnostics for children that call the library.
. "$(dirname "$0")/common.sh"

case_traffic() {
  run 60 "$OSHRUN" -n 3 --timeout 50 "$pe" children traffic
  expect_ok 'children among traffic'
  SHMEMX_STATIC_DATA=1 SHMEM_WAIT=block run 60 "$OSHRUN" -n 2 --timeout 50 "$pe" children traffic
  expect_ok 'children among traffic, SHMEM_WAIT=block'
}

case_calls_in_a_child() {
  for routine in put barrier malloc finalize team_sync lock wait global_exit; do
    run 30 "$OSHRUN" -n 2 --timeout 20 "$pe" children $routine
    expect_ok "$routine in a child"
    [ "$(grep -c 'called in a forked child, which is not a PE' err)" = 2 ] || die "$routine: no line for each child"
    grep -q 'status 1$' out || die "$routine: the child did not end with status 1"
  done
  run 30 "$OSHRUN" -n 2 --timeout 20 "$pe" children exit
  expect_ok 'exit in a child'
  grep -q 'status 46$' out || die "the child's status was changed"
}

# The interpreter is the PE and loads the library by dlopen.
case_python() {
  need python3
  cat >job.py <<'END'
import ctypes, multiprocessing, os, subprocess, sys
lib = ctypes.CDLL(sys.argv[1])
lib.shmem_malloc.restype = ctypes.POINTER(ctypes.c_long)
lib.shmem_malloc.argtypes = [ctypes.c_size_t]
lib.shmem_long_atomic_add.argtypes = [ctypes.POINTER(ctypes.c_long), ctypes.c_long, ctypes.c_int]
def square(x): return x * x
lib.shmem_init()
cell = lib.shmem_malloc(8)
cell[0] = 0
lib.shmem_barrier_all()
for i in range(5):
    assert subprocess.run(["/bin/echo", "x"], capture_output=True).stdout == b"x\n"
    assert subprocess.run("exit 3", shell=True).returncode == 3
    lib.shmem_long_atomic_add(cell, 1, 0)
pid = os.fork()
if pid == 0:
    os._exit(5)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(square, range(10)) == [i * i for i in range(10)]
lib.shmem_barrier_all()
if lib.shmem_my_pe() == 0:
    assert cell[0] == 5 * lib.shmem_n_pes(), cell[0]
    print("ok python", flush=True)
lib.shmem_finalize()
END
  run 60 "$OSHRUN" -n 3 --timeout 50 python3 job.py "$LIBRARY"
  expect_ok 'Python with subprocess, fork and multiprocessing'
}

# Programs whose allocator registers handlers of fork before anything else of the program runs.
case_own_allocator() {
  need "$OSHCC"
  check_allocator() {  # NAME COMPILER-ARGUMENTS...
    name=$1
    shift
    "$@" -O1 -pthread -o allocator 2>link.err || { grep -q 'cannot find -l' link.err && return 0; die "$name: $(cat link.err)"; }
    run 60 "$OSHRUN" -n 2 --timeout 50 ./allocator
    expect_ok "$name"
    echo "$name: works"
  }
  set -- "$SOURCES/allocator.c"
  check_allocator 'shared library' "$OSHCC" "$@"
  check_allocator 'static library' cc "-I$INCLUDES" "$@" "$STATIC_LIBRARY" -lstdc++ -lm -ldl
  check_allocator 'static executable' "$OSHCC" -static "$@"
  for library in jemalloc tcmalloc_minimal; do
    set -- -DOTHER_ALLOCATOR "$SOURCES/allocator.c"
    check_allocator "$library, shared" "$OSHCC" "$@" -Wl,--no-as-needed "-l$library"
    check_allocator "$library, in the program" "$OSHCC" "$@" -Wl,-Bstatic "-l$library" -Wl,-Bdynamic -lstdc++ -lm
    check_allocator "$library, static executable" "$OSHCC" -static "$@" "-l$library" -lstdc++ -lm
  done
}

# Copies of much static data are announced, once for each process.
case_much_static_data() {
  "$OSHCC" -O1 -DOTHER_ALLOCATOR "$SOURCES/allocator.c" -pthread -o allocator
  run 60 "$OSHRUN" -n 1 --timeout 50 ./allocator much
  expect_ok 'children of 300 MB of static data'
  [ "$(grep -c 'a fork copies all static data that the program has touched at once, here 31[0-9] MB' err)" = 1 ] || die 'not one line'
}

# The interpreter, whose state lies in globals of the executable, has busy threads when the library starts.
case_busy_python() {
  need python3
  cat >busy.py <<'END'
import ctypes, sys, threading, time
lib = ctypes.CDLL(sys.argv[1])
ends = False
counts = [0] * 4
objects = []
def work(i):
    while not ends:
        counts[i] += 1
        objects.append(str(counts[i]) + "x")
        if counts[i] % 1000 == 0: objects.clear()
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
sys.setswitchinterval(1e-5)
for thread in threads: thread.start()
while not all(counts): time.sleep(0.001)
lib.shmem_init()
lib.shmem_barrier_all()
ends = True
for thread in threads: thread.join()
if lib.shmem_my_pe() == 0: print("ok busy", flush=True)
lib.shmem_finalize()
END
  for turn in 1 2 3 4 5; do
    run 60 "$OSHRUN" -n 2 --timeout 50 python3 busy.py "$LIBRARY"
    expect_ok "Python with busy threads, turn $turn"
    [ -s err ] && die 'a line was printed'
  done
  return 0
}

# A child that runs another program is not the PE, nor are the PEs of an oshrun that a PE starts.
case_nested() {
  cat >nested.sh <<'END'
"$1" -n 2 --timeout 20 "$2" work || exit 5
exec "$2" work
END
  run 60 "$OSHRUN" -n 2 --timeout 50 sh nested.sh "$OSHRUN" "$pe"
  expect_ok 'a job inside each PE'
  [ "$(grep -c '^ok work 2 PEs' out)" = 3 ] || die 'not two inner jobs and the outer one'
}

run_case "$@"
