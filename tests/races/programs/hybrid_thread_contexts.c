/* races: none; class: hybrid; pes: 2; flags: -pthread */
/* Each thread puts on a private context of its own, to a word of its own. */
#include <pthread.h>
#include <shmem.h>

static long words[2];

static void* send(void* number) {
  const int index = *(const int*)number;
  shmem_ctx_t context;
  if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &context) != 0) shmem_global_exit(1);
  shmem_ctx_long_p(context, &words[index], 10 + index, 1 - shmem_my_pe());
  shmem_ctx_quiet(context);
  shmem_ctx_destroy(context);
  return NULL;
}

int main(void) {
  int provided;
  int numbers[2] = {0, 1};
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  pthread_t thread;
  if (pthread_create(&thread, NULL, send, &numbers[0]) != 0) shmem_global_exit(1);
  send(&numbers[1]);
  pthread_join(thread, NULL);
  shmem_sync_all();
  const int wrong = words[0] != 10 || words[1] != 11;
  shmem_finalize();
  return wrong;
}
