/* races: always; class: hybrid; pes: 2; flags: -pthread */
/* The first thread has ended long before the second one is made, but nobody has joined it. */
#include <pthread.h>
#include <shmem.h>
#include <unistd.h>
long word;
static void* work(void* a) {
  word = (long)a;  // race 1 and 2
  return NULL;
}
int main(void) {
  int p;
  shmem_init_thread(SHMEM_THREAD_SERIALIZED, &p);
  pthread_t t[2];
  pthread_create(&t[0], NULL, work, (void*)1);
  usleep(100000);
  pthread_create(&t[1], NULL, work, (void*)2);
  for (int i = 0; i < 2; ++i) pthread_join(t[i], NULL);
  shmem_finalize();
  return 0;
}
