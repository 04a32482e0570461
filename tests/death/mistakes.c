/* Mistakes that SHMEM_CHECK finds, by name: docs/checking.md shows them. The last PE makes them where one is enough. */
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int last;  /* is this the last PE? */
static long word; /* static data are symmetric */
static long words[16];

static long* new_block(void) { return shmem_malloc(8 * sizeof(long)); }

static void put_to_freed(void) {
  long* block = shmem_malloc(8 * sizeof(long));
  shmem_free(block);
  if (last) shmem_long_p(block + 1, 5, 0);
}

static void get_from_freed(void) {
  long* block = new_block();
  shmem_free(block);
  if (last) shmem_getmem(words, block, 16, 0);
}

static void atomic_on_freed(void) {
  long* block = new_block();
  shmem_free(block);
  if (last) shmem_long_atomic_inc(block, 0);
}

static void store_to_freed(void) {
  long* block = shmem_malloc(8 * sizeof(long));
  shmem_free(block);
  if (last) block[2] = 5;
  shmem_barrier_all();
}

static void put_past_the_end(void) {
  long* block = shmem_malloc(8 * sizeof(long));
  if (last) shmem_long_put(block + 6, words, 4, 0);
}

static void put_behind_the_end(void) {
  long* block = shmem_malloc(8 * sizeof(long));
  if (last) shmem_long_p(&block[8], 5, 0);
}

static void strided_past_the_end(void) {
  long* block = new_block();
  if (last) shmem_long_iput(block, words, 3, 1, 4, 0);
}

static void store_behind_the_end(void) {
  long* block = shmem_malloc(8 * sizeof(long));
  if (last) block[8] = 5;
  shmem_barrier_all();
}

static void store_in_front(void) {
  long* block = new_block();
  if (last) block[-1] = 5;
  shmem_free(block);
}

static void store_behind_a_byte(void) {
  char* block = shmem_malloc(1);
  if (last) block[3] = 5;
  shmem_finalize();
}

static void use_after_realloc(void) {
  long* old = shmem_malloc(8 * sizeof(long));
  long* block = shmem_realloc(old, 16 * sizeof(long));
  if (last) shmem_long_p(old, block[0], 0);
}

static void source_in_freed(void) {
  long* block = shmem_malloc(8 * sizeof(long));
  shmem_free(block);
  if (last) shmem_long_put(words, block, 8, 0);
}

static void dest_past_the_end(void) {
  long* block = new_block();
  if (last) shmem_long_get(block, words, 9, 0);
}

static void fetch_into_freed(void) {
  long* block = new_block();
  shmem_free(block);
  if (last) shmem_long_atomic_fetch_nbi(block, &word, 0);
}

static void freed_twice(void) {
  long* block = shmem_malloc(8 * sizeof(long));
  shmem_free(block);
  if (last) shmem_free(block);
}

static void freed_inside(void) {
  long* block = new_block();
  if (last) shmem_free(block + 2);
}

static void wait_on_freed(void) {
  long* block = new_block();
  shmem_free(block);
  if (last) shmem_long_wait_until(block, SHMEM_CMP_EQ, 1);
}

static void lock_in_freed(void) {
  long* lock = shmem_calloc(1, sizeof(long));
  shmem_free(lock);
  if (last) shmem_set_lock(lock);
}

static void signal_past_the_end(void) {
  uint64_t* signal = shmem_calloc(1, sizeof(uint64_t));
  if (last) shmem_signal_set(signal + 1, 1, 0);
}

static void reduce_into_freed(void) {
  long* block = new_block();
  shmem_free(block);
  if (last) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, block, words, 1);
}

static void overlapping_put(void) {
  if (last) shmem_long_put(words + 1, words, 8, shmem_my_pe());
}

static void overlapping_get(void) {
  if (last) shmem_long_get(words, words + 7, 8, shmem_my_pe());
}

static void overlapping_reduce(void) {
  if (last) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words, words + 3, 8);
}

static void collect_in_place(void) {
  if (last) shmem_long_fcollect(SHMEM_TEAM_WORLD, words, words, 2);
}

static void source_changed(void) {
  if (!last) return;
  long value = 1;
  shmem_long_put_nbi(&word, &value, 1, 0);
  value = 2;
  shmem_quiet();
}

static void source_changed_at_barrier(void) {
  shmem_long_put_nbi(words, words + 8, 8, 0);
  if (last) words[9]++;
  shmem_barrier_all();
}

static void source_of_context_changed(void) {
  shmem_ctx_t context;
  if (!last || shmem_ctx_create(0, &context) != 0) return;
  shmem_ctx_long_put_nbi(context, words, words + 8, 8, 0);
  words[9]++;
  shmem_quiet();
  shmem_ctx_quiet(context);
}

static void signalled_source_changed(void) {
  static uint64_t signal;
  if (!last) return;
  shmem_long_put_signal_nbi(words, words + 8, 8, &signal, 1, SHMEM_SIGNAL_SET, 0);
  words[8]++;
  shmem_quiet();
}

static void source_freed(void) {
  long* block = malloc(1 << 20);
  if (!last) return;
  shmem_putmem_nbi(words, block, sizeof words, 0);
  free(block);
  shmem_quiet();
}

static void dest_written(void) {
  if (!last) return;
  shmem_long_get_nbi(words, words + 8, 8, 0);
  words[1] = 5;
  shmem_quiet();
}

static void dest_used(void) {
  if (!last) return;
  shmem_long_get_nbi(words, words + 8, 8, 0);
  shmem_long_put(words + 8, words, 1, 0);
}

static void get_into_source(void) {
  if (!last) return;
  shmem_long_put_nbi(words, words + 8, 8, 0);
  shmem_long_get(words + 9, &word, 1, 0);
}

static void pe_of_another_team(void) {
  shmem_team_t team;
  shmem_ctx_t context;
  const int n_pes = shmem_n_pes();
  shmem_team_split_strided(SHMEM_TEAM_WORLD, n_pes - 1, 1, 1, NULL, 0, &team);
  if (shmem_team_create_ctx(team, 0, &context) == 0) shmem_ctx_long_p(context, &word, 1, n_pes - 1);
}

static void leaks(void) {
  shmem_team_t team;
  shmem_ctx_t context;
  for (int i = 0; i < 3; i++) shmem_malloc(100);
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team);
  shmem_ctx_create(0, &context);
  shmem_finalize();
}

static void leak_of_one(void) {
  shmem_ctx_t context;
  if (last) shmem_ctx_create(0, &context);
  shmem_finalize();
}

static void leak_without_finalize(void) {
  shmem_malloc(100);
  if (last) shmem_malloc_with_hints(0, 0); /* nothing */
}

/* PE 0 finds it in the first or in the second barrier. Without mapped memory PE 0 stores by itself. */
static void store_by_another_pe(void) {
  long* block = new_block();
  long* there = last ? shmem_ptr(block, 0) : NULL;
  if (shmem_my_pe() == 0 && shmem_ptr(block, shmem_n_pes() - 1) == NULL) there = block;
  if (there != NULL) there[9] = 5;
  shmem_barrier_all(), shmem_barrier_all();
}

static void put_far_behind_the_end(void) {
  long* block = new_block();
  if (last) shmem_long_p(&block[1000], 5, 0);
}

/* No mistakes: what must not be reported. */
static void correct(void) {
  const int n_pes = shmem_n_pes(), me = shmem_my_pe(), next = (me + 1) % n_pes;
  for (int i = 0; i < 200; i++) {
    long* block = shmem_malloc(8 * sizeof(long) + i);
    memset(block, i, 8 * sizeof(long) + i);
    shmem_barrier_all();
    shmem_long_put_nbi(block, words, 8, next);
    shmem_quiet();
    words[0]++;
    shmem_long_iput(block + 1, words + 8, 2, 2, 4, me);
    shmem_long_iput(words + 1, words, 2, 2, 4, me); /* the elements do not overlap */
    shmem_long_get_nbi(words, block, 8, me);
    shmem_long_get_nbi(words, block, 8, next); /* the later one counts */
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, block, block, 8);
    if (i % 3 == 0) block = shmem_realloc(block, 4096 + i);
    char* aligned = shmem_align((size_t)1 << (i % 20 + 1), 100);
    if ((uintptr_t)aligned % ((size_t)1 << (i % 20 + 1)) != 0) printf("misaligned\n");
    memset(aligned, i, 100);
    shmem_putmem(aligned, words, 100, next);
    shmem_free(aligned);
    shmem_free(block);
  }
  if (me == 0) printf("correct\n");
  shmem_finalize();
}

/* Blocks that were freed must not fill the heap. */
static void exhausts_the_heap(void) {
  int null = 0;
  for (int i = 0; i < 100; i++) {
    char* block = shmem_malloc(5 << 20);
    if (block == NULL) null++;
    if (block != NULL) memset(block, 1, 5 << 20);
    shmem_free(block);
  }
  char* all = shmem_malloc(60 << 20); /* all that is kept has to go */
  if (all == NULL) null++;
  shmem_free(all);
  if (last) printf("%d of 101 failed\n", null);
  shmem_finalize();
}

static uint64_t ready;

static void signal_that_nobody_sends(void) {
  if (last) shmem_signal_wait_until(&ready, SHMEM_CMP_EQ, 1);
  shmem_barrier_all();
}

static void signal_to_another_pe(void) {
  if (shmem_my_pe() == 0) shmem_signal_set(&ready, 1, 0);
  if (last) shmem_signal_wait_until(&ready, SHMEM_CMP_EQ, 1);
  shmem_barrier_all();
}

static void value_before_finalize(void) {
  if (last) shmem_long_wait_until_all(words, 3, NULL, SHMEM_CMP_GT, 0);
  shmem_finalize();
}

static void message_that_nobody_receives(void) {
  if (last) shmemx_ssend(words, sizeof words, 0, 3);
  shmem_barrier_all();
}

static long locks[2];

static void locks_in_two_orders(void) {
  if (last || shmem_my_pe() == 0) shmem_set_lock(&locks[last]);
  shmem_barrier_all();
  if (last || shmem_my_pe() == 0) shmem_set_lock(&locks[1 - last]);
  shmem_barrier_all();
}

static void put_past_a_variable(void) {
  if (last) shmem_long_put(&words[14], words, 4, 0);
}

static void signal_in_the_data(void) {
  static uint64_t data[8];
  if (last) shmem_uint64_put_signal(data, (uint64_t*)words, 8, &data[7], 1, SHMEM_SIGNAL_SET, 0);
}

static void misaligned_signal(void) {
  char* block = (char*)new_block();
  if (last) shmem_signal_set((uint64_t*)(block + 4), 1, 0);
}

static void misaligned_wait(void) {
  if (last) shmem_long_wait_until((long*)((char*)words + 4), SHMEM_CMP_EQ, 0);
}

static void source_is_null(void) {
  if (last) shmem_long_put(words, NULL, 4, 0);
}

static const long constants[2] = {1, 2};

static void dest_is_constant(void) {
  if (last) shmem_long_get((long*)constants, words, 2, 0);
}

static void fetched_result_written(void) {
  if (!last) return;
  static long result;
  shmem_long_atomic_fetch_nbi(&result, &word, 0);
  result = 7;
  shmem_quiet();
}

void pointer_to_no_pe(void), freed_by_free(void), source_is_unmapped(void), dest_is_unmapped(void);
void private_context_of_another_thread(void), quiet_of_a_private_context(void), lock_at_finalize(void);
void threads_in_one_team(void), thread_beyond_the_level(void);

#define MISTAKE(NAME) \
  { #NAME, NAME }
static const struct {
  const char* name;
  void (*make)(void);
} mistakes[] = {MISTAKE(put_to_freed),
                MISTAKE(get_from_freed),
                MISTAKE(atomic_on_freed),
                MISTAKE(store_to_freed),
                MISTAKE(put_past_the_end),
                MISTAKE(put_behind_the_end),
                MISTAKE(strided_past_the_end),
                MISTAKE(store_behind_the_end),
                MISTAKE(store_in_front),
                MISTAKE(store_behind_a_byte),
                MISTAKE(use_after_realloc),
                MISTAKE(source_in_freed),
                MISTAKE(dest_past_the_end),
                MISTAKE(fetch_into_freed),
                MISTAKE(freed_twice),
                MISTAKE(freed_inside),
                MISTAKE(wait_on_freed),
                MISTAKE(lock_in_freed),
                MISTAKE(signal_past_the_end),
                MISTAKE(reduce_into_freed),
                MISTAKE(overlapping_put),
                MISTAKE(overlapping_get),
                MISTAKE(overlapping_reduce),
                MISTAKE(collect_in_place),
                MISTAKE(source_changed),
                MISTAKE(source_changed_at_barrier),
                MISTAKE(source_of_context_changed),
                MISTAKE(signalled_source_changed),
                MISTAKE(source_freed),
                MISTAKE(dest_written),
                MISTAKE(dest_used),
                MISTAKE(get_into_source),
                MISTAKE(pe_of_another_team),
                MISTAKE(leaks),
                MISTAKE(leak_of_one),
                MISTAKE(leak_without_finalize),
                MISTAKE(store_by_another_pe),
                MISTAKE(put_far_behind_the_end),
                MISTAKE(correct),
                MISTAKE(exhausts_the_heap),
                MISTAKE(signal_that_nobody_sends),
                MISTAKE(signal_to_another_pe),
                MISTAKE(value_before_finalize),
                MISTAKE(message_that_nobody_receives),
                MISTAKE(locks_in_two_orders),
                MISTAKE(put_past_a_variable),
                MISTAKE(signal_in_the_data),
                MISTAKE(misaligned_signal),
                MISTAKE(misaligned_wait),
                MISTAKE(source_is_null),
                MISTAKE(dest_is_constant),
                MISTAKE(fetched_result_written),
                MISTAKE(thread_beyond_the_level),
                MISTAKE(pointer_to_no_pe),
                MISTAKE(freed_by_free),
                MISTAKE(source_is_unmapped),
                MISTAKE(dest_is_unmapped),
                MISTAKE(private_context_of_another_thread),
                MISTAKE(quiet_of_a_private_context),
                MISTAKE(lock_at_finalize),
                MISTAKE(threads_in_one_team)};

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  int level =
      strstr(name, "private_context") || strstr(name, "threads_in") ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE;
  shmem_init_thread(level, &level);
  last = shmem_my_pe() == shmem_n_pes() - 1;
  shmem_barrier_all();
  for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
    if (strcmp(name, mistakes[i].name) == 0) mistakes[i].make();
  }
  int initialized = 0;
  shmem_query_initialized(&initialized);
  if (initialized) shmem_barrier_all();
  return 0;
}
