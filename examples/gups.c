/* Random access: every PE changes random words of a table that is spread over all PEs, with
 * atomic xor, and reports giga-updates per second.
 *
 * A xor done twice undoes itself, so a second pass with the same random numbers must restore every
 * word. Between the passes the xor of the whole table must be the one that the updates predict.
 *
 * Usage: gups [log2 of the table words of a PE = 18] [updates of a PE = 1000000]
 */
#include <inttypes.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
  uint64_t *words; /* symmetric */
  uint64_t words_per_pe;
  uint64_t updates_per_pe;
  int me, pe_count;
} table_t;

static uint64_t local_xor, global_xor;
static uint64_t local_errors, global_errors;

/* Weyl sequence with a bit mixer: any PE can draw its n-th number without the ones before. */
static uint64_t random_word(uint64_t n) {
  uint64_t z = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t initial_word(const table_t *table, uint64_t i) { return (uint64_t)table->me * table->words_per_pe + i; }

/* One pass over this PE's updates; returns the xor of all values it has applied. */
static uint64_t update(const table_t *table) {
  const uint64_t first = (uint64_t)table->me * table->updates_per_pe;
  uint64_t applied = 0;
  for (uint64_t i = 0; i < table->updates_per_pe; ++i) {
    const uint64_t value = random_word(first + i);
    const uint64_t index = (value >> 32) % table->words_per_pe;
    const int pe = (int)((value & 0xffffffff) % (uint64_t)table->pe_count);
    shmem_uint64_atomic_xor(&table->words[index], value, pe);
    applied ^= value;
  }
  shmem_barrier_all(); /* completes the updates of all PEs */
  return applied;
}

static uint64_t xor_over_all(uint64_t mine) {
  local_xor = mine;
  shmem_uint64_xor_reduce(SHMEM_TEAM_WORLD, &global_xor, &local_xor, 1);
  return global_xor;
}

static uint64_t xor_of_table(const table_t *table) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < table->words_per_pe; ++i) sum ^= table->words[i];
  return xor_over_all(sum);
}

static uint64_t count_errors(const table_t *table) {
  local_errors = 0;
  for (uint64_t i = 0; i < table->words_per_pe; ++i)
    if (table->words[i] != initial_word(table, i)) ++local_errors;
  shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, &global_errors, &local_errors, 1);
  return global_errors;
}

static int run(const table_t *table) {
  for (uint64_t i = 0; i < table->words_per_pe; ++i) table->words[i] = initial_word(table, i);
  const uint64_t before = xor_of_table(table); /* also a barrier: all words are set */

  const double start = now_seconds();
  const uint64_t applied = update(table);
  const double seconds = now_seconds() - start;

  const int xor_ok = (before ^ xor_over_all(applied)) == xor_of_table(table);
  const uint64_t changed = count_errors(table);
  update(table);
  const uint64_t errors = count_errors(table);
  const int ok = xor_ok && errors == 0 && changed != 0;

  if (table->me == 0) {
    const double updates = (double)table->updates_per_pe * table->pe_count;
    printf("gups: %d PEs, %.0f updates in %.3f s, %.4f GUPS, %" PRIu64 " words changed, %" PRIu64
           " wrong after undoing: %s\n",
           table->pe_count, updates, seconds, updates / seconds * 1e-9, changed, errors, ok ? "verified" : "WRONG");
  }
  return ok ? 0 : 1;
}

int main(int argc, char **argv) {
  const unsigned log2_words = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 18;
  const uint64_t updates = argc > 2 ? strtoull(argv[2], NULL, 0) : 1000000;
  if (log2_words > 32 || updates == 0) {
    fprintf(stderr, "usage: %s [log2 of the table words of a PE, 0..32] [updates of a PE, 1..]\n", argv[0]);
    return 2;
  }
  shmem_init();
  table_t table = {.words_per_pe = UINT64_C(1) << log2_words,
                   .updates_per_pe = updates,
                   .me = shmem_my_pe(),
                   .pe_count = shmem_n_pes()};
  table.words = shmem_malloc(table.words_per_pe * sizeof *table.words);
  if (table.words == NULL) {
    fprintf(stderr, "gups: no room for 2^%u words in the symmetric heap\n", log2_words);
    shmem_global_exit(1);
  }
  const int status = run(&table);
  shmem_free(table.words);
  shmem_finalize();
  return status;
}
