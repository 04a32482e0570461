/* races: none; class: hybrid; pes: 1; flags: -pthread -latomic */
/* An atomic structure of 16 bytes publishes the data of a thread. */
#include <pthread.h>
#include <shmem.h>
#include <stdatomic.h>
typedef struct {
  long a, b;
} Pair;
static _Atomic Pair pair;
static long data;
static void* work(void* x) {
  data = 3;
  Pair n = {1, 2};
  atomic_store(&pair, n);
  return x;
}
int main(void) {
  int p;
  shmem_init_thread(SHMEM_THREAD_SERIALIZED, &p);
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  Pair got;
  do got = atomic_load(&pair);
  while (got.a == 0);
  int bad = data != 3;
  pthread_join(t, NULL);
  shmem_finalize();
  return bad;
}
