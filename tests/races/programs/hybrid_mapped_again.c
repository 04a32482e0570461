/* races: none; class: hybrid; pes: 2; flags: -pthread */
/* Two threads map, fill and unmap memory of their own, at one address if the first one has ended. */
#include <pthread.h>
#include <shmem.h>
#include <sys/mman.h>
#include <unistd.h>
static void* work(void* x) {
  if (x != NULL) usleep(50000);
  long* m = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 100; ++i) m[i] = i;
  munmap(m, 1 << 16);
  return x;
}
int main(void) {
  int p;
  shmem_init_thread(SHMEM_THREAD_SERIALIZED, &p);
  pthread_t t[2];
  pthread_create(&t[0], NULL, work, NULL);
  pthread_create(&t[1], NULL, work, t);
  for (int i = 0; i < 2; ++i) pthread_join(t[i], NULL);
  shmem_finalize();
  return 0;
}
