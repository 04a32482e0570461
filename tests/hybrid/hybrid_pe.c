/* hybrid_pe SCENARIO: MPI and OpenSHMEM in one program. Process 0 of MPI prints "ok" when all processes have passed. */
#include <mpi.h>
#include <shmemx.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int process, size;   /* in MPI_COMM_WORLD */
static int failures;         /* of this process */
static MPI_Comm job;         /* the processes that start OpenSHMEM together */
static int may_be_called;    /* whether the library may call allgather and barrier now */
static int calls;            /* of both */
static int fail_next_gather; /* makes allgather report a failure */
static long table[64];       /* symmetric */

static void check(int holds, const char* format, ...) {
  if (holds) return;
  ++failures;
  char text[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "process %d: FAILED: %s\n", process, text);
}

/* ---- What MPI provides to the library ---- */
static void note_call(void* user) {
  ++calls;
  check(may_be_called, "a function of the caller is called after the start");
  check(user == &job, "the functions get their pointer");
}
static int gather(const void* mine, void* all, size_t bytes, void* user) {
  note_call(user);
  check(bytes >= 1 && bytes <= 65536, "allgather of %zu bytes", bytes);
  if (fail_next_gather) return 7;
  return MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, *(MPI_Comm*)user) != MPI_SUCCESS;
}
static int meet(void* user) {
  note_call(user);
  return MPI_Barrier(*(MPI_Comm*)user) != MPI_SUCCESS;
}
static void end_all(int status, void* user) {
  int is_over = 0;
  MPI_Finalized(&is_over);
  if (!is_over) MPI_Abort(*(MPI_Comm*)user, status);
}

static shmemx_init_attr_t attributes(void) {
  shmemx_init_attr_t attr;
  memset(&attr, 0, sizeof attr);
  attr.bytes = sizeof attr;
  MPI_Comm_rank(job, &attr.my_pe);
  MPI_Comm_size(job, &attr.n_pes);
  attr.thread_level = SHMEM_THREAD_FUNNELED;
  attr.allgather = gather;
  attr.barrier = meet;
  attr.abort = end_all;
  attr.user = &job;
  return attr;
}
static int try_start(const shmemx_init_attr_t* attr, int* provided) {
  may_be_called = 1;
  const int result = shmemx_init_attr(attr, provided);
  may_be_called = 0;
  return result;
}
static void start(void) {
  const shmemx_init_attr_t attr = attributes();
  int provided = -1;
  const int result = try_start(&attr, &provided);
  if (result != SHMEMX_SUCCESS) {
    fprintf(stderr, "process %d: FAILED: start: %s\n", process, shmemx_error_text(result));
    MPI_Abort(MPI_COMM_WORLD, 9);
  }
  check(provided == SHMEM_THREAD_FUNNELED, "provided is %d", provided);
  check(shmem_my_pe() == attr.my_pe && shmem_n_pes() == attr.n_pes, "PE %d of %d", shmem_my_pe(), shmem_n_pes());
}

/* ---- What the programs do ---- */
/* Puts to all PEs, into static data and the heap, beside MPI operations, whose sums have to agree. */
static void work(void) {
  const int me = shmem_my_pe(), n = shmem_n_pes();
  long* const heap = shmem_calloc(1000, sizeof(long));
  long block[1000];
  for (int turn = 1; turn <= 5; ++turn) {
    for (int i = 0; i < 1000; ++i) block[i] = turn * 1000000L + me * 1000 + i;
    shmem_long_put(heap, block, 1000, (me + 1) % n);
    for (int pe = 0; pe < n; ++pe) shmem_long_atomic_add(&table[turn], me + turn, pe);
    long sum_here = me + turn, sum = 0;
    MPI_Allreduce(&sum_here, &sum, 1, MPI_LONG, MPI_SUM, job);
    int from_left = -1;
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, turn, &from_left, 1, MPI_INT, (me + n - 1) % n, turn, job,
                 MPI_STATUS_IGNORE);
    shmem_barrier_all();
    check(table[turn] == sum, "turn %d: %ld by OpenSHMEM, %ld by MPI", turn, table[turn], sum);
    for (int i = 0; i < 1000; ++i)
      if (heap[i] != turn * 1000000L + from_left * 1000 + i) {
        check(0, "turn %d: element %d is %ld", turn, i, heap[i]);
        break;
      }
    MPI_Barrier(job);
  }
  shmem_free(heap);
}
/* Process 0 prints the result. Called before MPI_Finalize. */
static void report(void) {
  int all = 0;
  MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (process == 0) printf(all == 0 ? "ok %d\n" : "failed %d\n", size);
  fflush(stdout);
}

static void shmem_first(void) {
  start();
  work();
  shmem_finalize();
  check(calls == 0 || size > 1, "a job of one process needs no function");
}
/* No function of the caller may be called after MPI_Finalize. */
static void mpi_first(int finalize) {
  start();
  work();
  const int n = shmem_n_pes();
  report();
  MPI_Finalize();
  for (int turn = 0; turn < 20; ++turn) {
    for (int pe = 0; pe < n; ++pe) shmem_long_atomic_add(&table[40], 1, pe);
    shmem_barrier_all();
  }
  check(table[40] == 20L * n, "%ld after MPI_Finalize", table[40]);
  if (finalize) shmem_finalize();
  exit(failures != 0);
}
static void again(void) {
  for (int life = 0; life < 3; ++life) {
    const int calls_before = calls;
    start();
    check(life == 0 || calls == calls_before, "a later start needs no function");
    const shmemx_init_attr_t attr = attributes();
    check(shmemx_init_attr(&attr, NULL) == SHMEMX_ERR_STARTED, "a second start is refused");
    shmem_init(); /* of a library of the program: counted */
    memset(table, 0, sizeof table);
    shmem_barrier_all();
    work();
    shmem_finalize();
    shmem_barrier_all(); /* still initialised */
    shmem_finalize();
  }
  shmemx_init_attr_t other = attributes();
  ++other.n_pes;
  check(shmemx_init_attr(&other, NULL) == SHMEMX_ERR_STARTED, "a start as other PEs is refused");
  shmem_init();
  memset(table, 0, sizeof table);
  shmem_barrier_all();
  work();
  shmem_finalize();
}
/* Two jobs at once, of every second process, numbered backwards in the second one. */
static void split(void) {
  const int colour = process % 2;
  MPI_Comm_split(MPI_COMM_WORLD, colour, colour == 0 ? process : -process, &job);
  start();
  int job_size = 0;
  MPI_Comm_size(job, &job_size);
  check(shmem_n_pes() == job_size && job_size == (size + 1 - colour) / 2, "%d of %d", job_size, size);
  long* const owner = shmem_malloc(sizeof(long));
  *owner = -1;
  shmem_barrier_all();
  shmem_long_p(owner, colour, (shmem_my_pe() + 1) % job_size);
  shmem_barrier_all();
  MPI_Barrier(MPI_COMM_WORLD); /* both jobs have written */
  check(*owner == colour, "the other job has written here: %ld", *owner);
  work();
  shmem_free(owner);
  shmem_finalize();
}
static void expect(int result, int expected, const char* what) {
  check(result == expected, "%s: %d (%s)", what, result, shmemx_error_text(result));
}
/* As a later version of the library may have it. */
struct larger {
  shmemx_init_attr_t known;
  long later;
};
static void misuse_of_the_structure(void) {
  shmemx_init_attr_t attr = attributes();
  const size_t sizes[] = {0, sizeof attr - 1, 1u << 20};
  for (int i = 0; i < 3; ++i) {
    attr.bytes = sizes[i];
    expect(shmemx_init_attr(&attr, NULL), SHMEMX_ERR_VERSION, "size of the structure");
  }
  struct larger larger = {attributes(), 1};
  larger.known.bytes = sizeof larger;
  expect(shmemx_init_attr(&larger.known, NULL), SHMEMX_ERR_VERSION, "an unknown member");
  expect(shmemx_init_attr(NULL, NULL), SHMEMX_ERR_ARGUMENT, "null");
}
static void misuse_of_members(void) {
  const shmemx_init_attr_t good = attributes();
  shmemx_init_attr_t wrong[7];
  for (int i = 0; i < 7; ++i) wrong[i] = good;
  wrong[0].n_pes = -1;
  wrong[1].n_pes = 0;
  wrong[2].my_pe = -1;
  wrong[3].my_pe = size;
  wrong[4].allgather = NULL;
  wrong[5].barrier = NULL;
  wrong[6].thread_level = 4;
  for (int i = 0; i < 7; ++i) expect(shmemx_init_attr(&wrong[i], NULL), SHMEMX_ERR_ARGUMENT, "a member");
}
static void misuse(void) {
  misuse_of_the_structure();
  misuse_of_members();
  check(calls == 0, "wrong arguments are found without the others");
  if (size > 1) { /* found by all together */
    shmemx_init_attr_t attr = attributes();
    attr.my_pe = size - 1 - process;
    expect(try_start(&attr, NULL), SHMEMX_ERR_ARGUMENT, "numbers in another order than MPI's");
    attr = attributes();
    fail_next_gather = 1;
    expect(try_start(&attr, NULL), SHMEMX_ERR_ARGUMENT, "an allgather that fails");
    fail_next_gather = 0;
  }
  struct larger larger = {attributes(), 0};
  larger.known.bytes = sizeof larger;
  int provided = -1;
  expect(try_start(&larger.known, &provided), SHMEMX_SUCCESS, "a larger structure without unknown members");
  check(provided == SHMEM_THREAD_FUNNELED, "provided is %d", provided);
  work();
  shmem_finalize();
}
/* Through a second session of the launcher's interface. */
static void by_launcher(int mpi_ends_first) {
  shmem_init();
  check(shmem_my_pe() == process && shmem_n_pes() == size, "PE %d of %d", shmem_my_pe(), shmem_n_pes());
  work();
  if (!mpi_ends_first) {
    shmem_finalize();
    return;
  }
  report();
  MPI_Finalize();
  shmem_barrier_all();
  for (int pe = 0; pe < size; ++pe) shmem_long_atomic_inc(&table[50], pe); /* the first contact of many pairs */
  shmem_barrier_all();
  check(table[50] == size, "%ld after MPI_Finalize", table[50]);
  shmem_finalize();
  exit(failures != 0);
}
static void exits_with_3(void) {
  start();
  work();
  if (process == size - 1) shmem_global_exit(3);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const char* const scenario = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  job = MPI_COMM_WORLD;
  if (strcmp(scenario, "shmem_first") == 0) {
    shmem_first();
  } else if (strcmp(scenario, "mpi_first") == 0) {
    mpi_first(1);
  } else if (strcmp(scenario, "no_finalize") == 0) {
    mpi_first(0);
  } else if (strcmp(scenario, "again") == 0) {
    again();
  } else if (strcmp(scenario, "split") == 0) {
    split();
  } else if (strcmp(scenario, "misuse") == 0) {
    misuse();
  } else if (strcmp(scenario, "by_launcher") == 0) {
    by_launcher(0);
  } else if (strcmp(scenario, "by_launcher_mpi_first") == 0) {
    by_launcher(1);
  } else if (strcmp(scenario, "global_exit") == 0) {
    exits_with_3();
  } else {
    fprintf(stderr, "no scenario '%s'\n", scenario);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  report();
  MPI_Finalize();
  return failures != 0;
}
