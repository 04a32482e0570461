/* The program of the robustness tests: one scenario for each run, named by the first argument. Plain C99, so that it can be
   linked statically and dynamically. PE 0 ends a successful scenario with a line that begins with "ok". */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "robust_pe.h"

static long counter;     /* symmetric static data */
static long inbox[64];
static long lock_word;

double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void sleep_for(double length) {
  struct timespec pause = {(time_t)length, (long)((length - (double)(time_t)length) * 1e9)};
  nanosleep(&pause, NULL);
}

void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "PE %d: wrong: %s\n", shmem_my_pe(), what);
  shmem_global_exit(3);
}

/* PE 0 is killed by a signal while heap and static data hold values that a debugger looks for. */
long *crash_words;
static int crash(void) {
  shmem_init();
  crash_words = shmem_malloc(1 << 20);
  for (long i = 0; i < 1000; ++i) crash_words[i] = 4711 + i;
  counter = 99;
  shmem_barrier_all();
  if (shmem_my_pe() == 0) abort();
  shmem_barrier_all();
  return 1;
}

static void say_ok(const char *scenario) {
  if (shmem_my_pe() != 0) return;
  printf("ok %s %d PEs\n", scenario, shmem_n_pes());
  fflush(stdout);
}

/* ---- operations, each with a check of its values ---- */

static void ring(long *cells, int round) {
  const int me = shmem_my_pe();
  const int n = shmem_n_pes();
  const int next = (me + 1) % n;
  const int before = (me + n - 1) % n;
  shmem_long_p(&cells[round % 8], (long)me + round, next);
  shmem_barrier_all();
  require(cells[round % 8] == before + round, "a put around the ring");
  require(shmem_long_g(&cells[round % 8], next) == me + round, "a get around the ring");
  shmem_barrier_all();
}

static void count(void) {
  const int n = shmem_n_pes();
  const long before = counter;
  shmem_barrier_all();
  for (int pe = 0; pe < n; ++pe) shmem_long_atomic_add(&counter, 1, pe);
  shmem_barrier_all();
  require(counter == before + n, "atomics on a static variable");
}

static void reduce_and_exchange(void) {
  const int me = shmem_my_pe();
  const int n = shmem_n_pes();
  long *sent = shmem_malloc(2 * (size_t)n * sizeof *sent);
  require(sent != NULL, "shmem_malloc");
  long *received = sent + n;
  sent[0] = me + 1;
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, received, sent, 1);
  require(received[0] == (long)n * (n + 1) / 2, "a sum over all PEs");
  shmem_barrier_all();
  for (int pe = 0; pe < n; ++pe) sent[pe] = me * 1000L + pe;
  shmem_long_alltoall(SHMEM_TEAM_WORLD, received, sent, 1);
  for (int pe = 0; pe < n; ++pe) require(received[pe] == pe * 1000L + me, "alltoall");
  shmem_free(sent);
}

static void split(void) {
  shmem_team_t odd = SHMEM_TEAM_INVALID;
  const int n = shmem_n_pes();
  if (n < 2) return;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, n / 2, NULL, 0, &odd);
  require((odd != SHMEM_TEAM_INVALID) == (shmem_my_pe() % 2 == 1), "membership of the odd team");
  if (odd == SHMEM_TEAM_INVALID) return;
  require(shmem_team_n_pes(odd) == n / 2, "size of the odd team");
  shmem_team_sync(odd);
  shmem_team_destroy(odd);
}

static void take_lock(void) {
  shmem_set_lock(&lock_word);
  const long seen = shmem_long_g(&inbox[1], 0);
  shmem_long_p(&inbox[1], seen + 1, 0);
  shmem_clear_lock(&lock_word);
  shmem_barrier_all();
  require(shmem_long_g(&inbox[1], 0) % shmem_n_pes() == 0, "increments under the lock");
  shmem_barrier_all();
}

/* A token passes around the ring once. */
static void pass_token(long round) {
  const int me = shmem_my_pe();
  const int n = shmem_n_pes();
  if (me == 0) shmem_long_atomic_set(&inbox[2], round, 1 % n);
  shmem_long_wait_until(&inbox[2], SHMEM_CMP_EQ, round);
  if (me != 0) shmem_long_atomic_set(&inbox[2], round, (me + 1) % n);
}

static void move_blocks(char *block, size_t bytes) {
  const int me = shmem_my_pe();
  const int next = (me + 1) % shmem_n_pes();
  char *own = malloc(bytes);
  memset(own, me & 0x7f, bytes);
  shmem_putmem(block, own, bytes, next);
  shmem_barrier_all();
  shmem_getmem(own, block, bytes, next);
  require(own[0] == (me & 0x7f) && own[bytes - 1] == (me & 0x7f), "a block that went to the next PE and back");
  shmem_barrier_all();
  free(own);
}

static int work(int rounds) {
  shmem_init();
  long *cells = shmem_calloc(8, sizeof *cells);
  char *block = shmem_malloc(100000);
  for (int round = 0; round < rounds; ++round) {
    ring(cells, round);
    count();
    reduce_and_exchange();
    split();
    take_lock();
    pass_token(round + 1);
    move_blocks(block, 100000);
  }
  shmem_free(block);
  shmem_free(cells);
  say_ok("work");
  shmem_finalize();
  return 0;
}

/* ---- start ---- */

static int delayed(double longest) {
  srand((unsigned)getpid() ^ (unsigned)time(NULL));
  sleep_for(longest * rand() / RAND_MAX);
  return work(1);
}

static long resident_kib(void) {
  long kib = 0;
  char line[256];
  FILE *status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "VmRSS: %ld", &kib) == 1) break;
  }
  if (status != NULL) fclose(status);
  return kib;
}

static int footprint(void) {
  static long kib, most;
  shmem_init();
  kib = resident_kib();
  shmem_long_max_reduce(SHMEM_TEAM_WORLD, &most, &kib, 1);
  if (shmem_my_pe() == 0) printf("ok resident memory of the largest of %d PEs: %ld KiB\n", shmem_n_pes(), most);
  shmem_finalize();
  return 0;
}

/* Exits with status 21 if shmem_init_thread returns an error. */
static int init_thread(void) {
  int provided = -1;
  if (shmem_init_thread(SHMEM_THREAD_SINGLE, &provided) != 0) return 21;
  say_ok("init_thread");
  shmem_finalize();
  return 0;
}

/* ---- memory: allocates blocks until this fails, touches all of them ---- */

static int fill(size_t block_bytes, int most) {
  shmem_init();
  int blocks = 0;
  for (; blocks < most; ++blocks) {
    char *block = shmem_malloc(block_bytes);
    if (block == NULL) break;
    memset(block, 1, block_bytes);
    shmem_putmem(block, block, block_bytes, (shmem_my_pe() + 1) % shmem_n_pes());
  }
  shmem_barrier_all();
  if (shmem_my_pe() == 0) printf("ok fill %d blocks of %zu bytes\n", blocks, block_bytes);
  shmem_finalize();
  return 0;
}

static int usage(const char *name) {
  fprintf(stderr, "%s: unknown scenario\n", name);
  return 2;
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "work";
  const char *value = argc > 2 ? argv[2] : "1";
  if (strcmp(name, "work") == 0) return work(atoi(value));
  if (strcmp(name, "delayed") == 0) return delayed(atof(value));
  if (strcmp(name, "footprint") == 0) return footprint();
  if (strcmp(name, "init_thread") == 0) return init_thread();
  if (strcmp(name, "fill") == 0) return fill(strtoull(value, NULL, 10), argc > 3 ? atoi(argv[3]) : 1);
  if (strcmp(name, "blocked") == 0) return blocked(value, argc > 3 ? atof(argv[3]) : 3);
  if (strcmp(name, "for_ever") == 0) return for_ever(value);
  if (strcmp(name, "crash") == 0) return crash();
  if (strcmp(name, "children") == 0) return children(value);
  return usage(name);
}
