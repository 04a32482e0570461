/* Jobs that hang: one mistake for each name, on 3 PEs. What oshrun shows of each stands in hanging.txt. hanging NAME */
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int me, n_pes;
static int counter[16];
static long lock;
static uint64_t signal_word;
static long* block; /* 16 words of the heap */

static int last(void) { return me == n_pes - 1; }

static void compute(void) {
  volatile long sink = 0;
  for (;;) sink = sink + 1;
}

static void skipped_barrier(void) {
  if (last()) compute();
  shmem_barrier_all();
}
static void skipped_malloc(void) {
  if (last()) compute();
  shmem_malloc(64);
}
static void skipped_reduction(void) {
  if (last()) compute();
  shmem_int_sum_reduce(SHMEM_TEAM_WORLD, counter, counter + 8, 3);
}
static void skipped_broadcast(void) {
  if (last()) compute();
  shmem_long_broadcast(SHMEM_TEAM_WORLD, block, block + 8, 5, n_pes - 1);
}
static void skipped_team_sync(void) {
  shmem_team_t team;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, 2, NULL, 0, &team);
  if (me == 1) compute();
  if (last()) compute();
  shmem_team_sync(team);
}
static void signal_to_the_wrong_pe(void) {
  if (me == 0) shmem_signal_set(&signal_word, 1, 2);
  if (me == 1) shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 1);
  shmem_barrier_all();
}
static void value_that_never_comes(void) {
  counter[4] = 4;
  shmem_int_wait_until(&counter[4], SHMEM_CMP_EQ, -5);
}
static void value_in_the_heap(void) { shmem_long_wait_until(block + 2, SHMEM_CMP_GE, me + 1); }
static void values_of_an_array(void) { shmem_long_wait_until_all(block, 8, NULL, SHMEM_CMP_NE, 0); }
static void lock_that_is_never_cleared(void) {
  if (me == 0) shmem_set_lock(&lock);
  shmem_barrier_all();
  if (me == 1) shmem_set_lock(&lock);
  compute();
}
static void message_that_nobody_sends(void) {
  char text[8];
  if (me == 0) shmemx_recv(text, sizeof text, 1, 7, NULL);
  if (me == 1) shmemx_recv(text, sizeof text, SHMEMX_ANY_SOURCE, SHMEMX_ANY_TAG, NULL);
  compute();
}
static void test_in_vain(void) {
  while (last() && !shmem_long_test(block + 3, SHMEM_CMP_GT, 7)) continue;
  shmem_barrier_all();
}
static void test_of_an_array_in_vain(void) {
  while (last() && shmem_int_test_any(counter, 4, NULL, SHMEM_CMP_NE, 0) == SIZE_MAX) continue;
  shmem_barrier_all();
}
static void read_in_vain(void) {
  while (last() && shmem_long_atomic_fetch(block + 3, me) == 0) continue;
  shmem_barrier_all();
}
static void two_tests_in_turn(void) {
  while (last() && !shmem_long_test(block + 3, SHMEM_CMP_GT, 7)) shmem_int_test(counter, SHMEM_CMP_EQ, 9);
  shmem_barrier_all();
}
static void three_tests_in_turn(void) {
  while (last() && !shmem_long_test(block + 3, SHMEM_CMP_GT, 7))
    if (shmem_int_test(counter, SHMEM_CMP_EQ, 9) || shmem_int_test(counter, SHMEM_CMP_EQ, 8)) break;
  shmem_barrier_all();
}
static void two_reads_in_turn(void) {
  while (last() && shmem_long_g(block + 3, me) == 0) shmem_long_g(block + 4, me);
  shmem_barrier_all();
}
static void reads_of_another_pe(void) {
  while (last() && shmem_int_g(&counter[2], 0) == 0) continue;
  shmem_barrier_all();
}
static void fetches_of_another_pe(void) {
  while (last() && shmem_long_atomic_fetch(block + 5, 1) == 0) continue;
  shmem_barrier_all();
}
static void tried_lock(void) {
  if (me == 0) shmem_set_lock(&lock);
  shmem_barrier_all();
  while (last() && shmem_test_lock(&lock)) continue;
  shmem_barrier_all();
}

static const struct {
  const char* name;
  void (*run)(void);
} kMistakes[] = {{"skipped_barrier", skipped_barrier},
                 {"skipped_malloc", skipped_malloc},
                 {"skipped_reduction", skipped_reduction},
                 {"skipped_broadcast", skipped_broadcast},
                 {"skipped_team_sync", skipped_team_sync},
                 {"signal_to_the_wrong_pe", signal_to_the_wrong_pe},
                 {"value_that_never_comes", value_that_never_comes},
                 {"value_in_the_heap", value_in_the_heap},
                 {"values_of_an_array", values_of_an_array},
                 {"lock_that_is_never_cleared", lock_that_is_never_cleared},
                 {"message_that_nobody_sends", message_that_nobody_sends},
                 {"test_in_vain", test_in_vain},
                 {"test_of_an_array_in_vain", test_of_an_array_in_vain},
                 {"read_in_vain", read_in_vain},
                 {"two_tests_in_turn", two_tests_in_turn},
                 {"three_tests_in_turn", three_tests_in_turn},
                 {"two_reads_in_turn", two_reads_in_turn},
                 {"tried_lock", tried_lock},
                 {"reads_of_another_pe", reads_of_another_pe},
                 {"fetches_of_another_pe", fetches_of_another_pe}};

int main(int argc, char** argv) {
  shmem_init();
  me = shmem_my_pe();
  n_pes = shmem_n_pes();
  block = shmem_calloc(16, sizeof *block);
  for (size_t i = 0; argc > 1 && i < sizeof kMistakes / sizeof *kMistakes; ++i) {
    if (strcmp(argv[1], kMistakes[i].name) == 0) kMistakes[i].run();
  }
  shmem_finalize();
  return 0;
}
