/* More mistakes that SHMEM_CHECK finds: pointers to no memory, and contexts of other threads. mistakes.c calls them. */
#include <pthread.h>
#include <shmem.h>
#include <stdlib.h>

void pointer_to_no_pe(void);
void freed_by_free(void);
void lock_at_finalize(void), threads_in_one_team(void), thread_beyond_the_level(void);
void source_is_unmapped(void);
void dest_is_unmapped(void);
void private_context_of_another_thread(void);
void quiet_of_a_private_context(void);

static long word;
static long words[16];

static int is_last(void) { return shmem_my_pe() == shmem_n_pes() - 1; }

void pointer_to_no_pe(void) {
  if (is_last()) shmem_ptr(words, 1000);
}

void freed_by_free(void) {
  long* block = shmem_malloc(8 * sizeof(long));
  if (is_last()) free(block);
}

void source_is_unmapped(void) {
  char* volatile pages = malloc(1 << 20); /* of this size, a mapping of its own */
  free(pages);
  if (is_last()) shmem_putmem(words, pages, 64, 0);
}

void dest_is_unmapped(void) {
  char* volatile pages = malloc(1 << 20);
  free(pages);
  if (is_last()) shmem_getmem(pages, words, 64, 0);
}

static shmem_ctx_t own_context;

static void* put_with_context(void* unused) {
  shmem_ctx_long_p(own_context, &word, 1, 0);
  return unused;
}

void private_context_of_another_thread(void) {
  pthread_t thread;
  shmem_ctx_create(SHMEM_CTX_PRIVATE, &own_context);
  if (is_last() && pthread_create(&thread, NULL, put_with_context, NULL) == 0) pthread_join(thread, NULL);
}

static void* quiet_with_context(void* unused) {
  shmem_ctx_quiet(own_context);
  return unused;
}

void quiet_of_a_private_context(void) {
  pthread_t thread;
  shmem_ctx_create(SHMEM_CTX_PRIVATE, &own_context);
  if (is_last() && pthread_create(&thread, NULL, quiet_with_context, NULL) == 0) pthread_join(thread, NULL);
}

static long lock;

void lock_at_finalize(void) {
  if (is_last()) shmem_set_lock(&lock);
  shmem_finalize();
}

static void* barrier_by_thread(void* unused) {
  shmem_barrier_all();
  return unused;
}

void threads_in_one_team(void) {
  pthread_t thread;
  if (!is_last()) shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
  pthread_create(&thread, NULL, barrier_by_thread, NULL);
  barrier_by_thread(NULL);
}

static void* put_by_thread(void* unused) {
  shmem_long_p(&word, 1, 0);
  return unused;
}

void thread_beyond_the_level(void) {
  pthread_t thread;
  if (is_last() && pthread_create(&thread, NULL, put_by_thread, NULL) == 0) pthread_join(thread, NULL);
}
