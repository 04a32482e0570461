/* PEs that wait: for some time, with a measurement of their processor time, or until they are killed. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "robust_pe.h"

static double released;   /* when PE 0 released the others; written by PE 0 */
static long go;
static uint64_t signal_word;
static long lock_word;
static double share_in, share_out;
static double late_in, late_out;

/* The others wait in `where`; PE 0 sleeps before it calls this. */
static void release(const char *where) {
  const double now = seconds(CLOCK_MONOTONIC);
  for (int pe = 0; pe < shmem_n_pes(); ++pe) shmem_double_p(&released, now, pe);
  shmem_fence();
  if (strcmp(where, "barrier") == 0) shmem_barrier_all();
  if (strcmp(where, "lock") == 0) shmem_clear_lock(&lock_word);
  for (int pe = 0; pe < shmem_n_pes(); ++pe) {
    if (strcmp(where, "wait") == 0) shmem_long_p(&go, 1, pe);
    if (strcmp(where, "signal") == 0) shmem_putmem_signal(&go, &pe, sizeof pe, &signal_word, 1, SHMEM_SIGNAL_SET, pe);
  }
}

static void wait_in(const char *where) {
  if (strcmp(where, "barrier") == 0) shmem_barrier_all();
  if (strcmp(where, "wait") == 0) shmem_long_wait_until(&go, SHMEM_CMP_EQ, 1);
  if (strcmp(where, "signal") == 0) shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 1);
  if (strcmp(where, "lock") == 0) {
    shmem_set_lock(&lock_word);
    late_in = seconds(CLOCK_MONOTONIC);
    shmem_clear_lock(&lock_word);
  }
}

/* Prints the largest share of a core that a waiting PE used, and the largest latency of waking up. */
int blocked(const char *where, double length) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0 && strcmp(where, "lock") == 0) shmem_set_lock(&lock_word);
  const double entered = seconds(CLOCK_MONOTONIC); /* before PE 0 begins to sleep */
  shmem_barrier_all();
  if (me == 0) {
    sleep_for(length);
    release(where);
  } else {
    const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    const double begin = seconds(CLOCK_MONOTONIC);
    wait_in(where);
    const double end = seconds(CLOCK_MONOTONIC);
    if (strcmp(where, "lock") != 0) late_in = end;
    late_in -= released;
    share_in = (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (end - begin);
    require(end - entered > 0.5 * length, "the PE waited");
  }
  shmem_double_max_reduce(SHMEM_TEAM_WORLD, &share_out, &share_in, 1);
  shmem_double_max_reduce(SHMEM_TEAM_WORLD, &late_out, &late_in, 1);
  if (me == 0) printf("ok blocked %s %.2f %% of a core, last woke after %.0f us\n", where, 100 * share_out, 1e6 * late_out);
  shmem_finalize();
  return 0;
}

/* Prints "ready PE pid" on each PE, then stays in `where` until the job is killed. */
int for_ever(const char *where) {
  shmem_init();
  const int me = shmem_my_pe();
  const int next = (me + 1) % shmem_n_pes();
  char *block = shmem_malloc(1 << 20);
  char *own = malloc(1 << 20);
  if (me == 0) shmem_set_lock(&lock_word);
  shmem_barrier_all();
  printf("ready %d %ld\n", me, (long)getpid());
  fflush(stdout);
  for (;;) {
    if (strcmp(where, "put") == 0) shmem_putmem(block, own, 1 << 20, next);
    else if (strcmp(where, "get") == 0) shmem_getmem(own, block, 1 << 20, next);
    else if (strcmp(where, "barriers") == 0) shmem_barrier_all();
    else if (me == 0) sleep_for(0.1);
    else if (strcmp(where, "lock") == 0) shmem_set_lock(&lock_word);
    else if (strcmp(where, "wait") == 0) shmem_long_wait_until(&go, SHMEM_CMP_EQ, 1);
    else if (strcmp(where, "barrier") == 0) shmem_barrier_all();
    else if (strcmp(where, "finalize") == 0) shmem_finalize();
    else sleep_for(0.1);
  }
}
