/* A program with an allocator of its own, which registers handlers of fork at the first malloc, as jemalloc does: before
   all constructors. Threads allocate while the main thread forks; parent and children allocate afterwards. With another
   allocator linked instead (-DOTHER_ALLOCATOR) the same. `allocator much`: the children of much touched static data. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef OTHER_ALLOCATOR
enum { CLASSES = 40, LARGEST = 1 << 19 };
struct block {
  struct block *next;
  size_t size_class; /* blocks hold 32, 32, 64, 64, 128 ... bytes without this head */
};
static char pool[192 << 20];
static size_t used;
static struct block *unused[CLASSES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int registered;

static void lock(void) { pthread_mutex_lock(&mutex); }
static void unlock(void) { pthread_mutex_unlock(&mutex); }

static size_t bytes_of(size_t size_class) { return (size_t)32 << size_class; }

void *malloc(size_t bytes) {
  size_t size_class = 0;
  if (!__atomic_exchange_n(&registered, 1, __ATOMIC_RELAXED)) pthread_atfork(lock, unlock, unlock);
  while (bytes_of(size_class) < bytes) ++size_class;
  lock();
  struct block *block = unused[size_class];
  if (block != NULL) {
    unused[size_class] = block->next;
  } else if (used + sizeof *block + bytes_of(size_class) <= sizeof pool) {
    block = (struct block *)(pool + used);
    block->size_class = size_class;
    used += sizeof *block + bytes_of(size_class);
  }
  unlock();
  if (block == NULL) errno = ENOMEM;
  return block == NULL ? NULL : block + 1;
}

static struct block *block_of(void *memory) { return (struct block *)memory - 1; }

void free(void *memory) {
  if (memory == NULL || ((size_t *)memory)[-1] >= CLASSES) return; /* aligned blocks are never used again */
  struct block *const block = block_of(memory);
  lock();
  block->next = unused[block->size_class];
  unused[block->size_class] = block;
  unlock();
}

void *calloc(size_t count, size_t bytes) {
  void *const memory = malloc(count * bytes);
  return memory == NULL ? NULL : memset(memory, 0, count * bytes);
}

static size_t room(void *memory) {
  const size_t size_class = ((size_t *)memory)[-1];
  return size_class < CLASSES ? bytes_of(size_class) : size_class - CLASSES;
}

void *realloc(void *memory, size_t bytes) {
  void *const moved = malloc(bytes);
  if (memory == NULL || moved == NULL) return moved;
  memcpy(moved, memory, room(memory) < bytes ? room(memory) : bytes);
  free(memory);
  return moved;
}

void *memalign(size_t alignment, size_t bytes) {
  char *const memory = malloc(bytes + alignment + sizeof(struct block));
  if (memory == NULL) return NULL;
  const size_t at = ((size_t)memory + sizeof(struct block) + alignment - 1) / alignment * alignment;
  ((size_t *)at)[-1] = CLASSES + bytes;
  return (void *)at;
}
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
void *valloc(size_t bytes) { return memalign(4096, bytes); }
void *pvalloc(size_t bytes) { return memalign(4096, bytes); }
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory == NULL ? ENOMEM : 0;
}
size_t malloc_usable_size(void *memory) { return memory == NULL ? 0 : room(memory); }
#endif

static volatile int stop;
static volatile long rounds;

static void allocate(unsigned seed, int times) {
  char *blocks[32] = {NULL};
  for (int i = 0; i < times; ++i) {
    const unsigned k = (seed = seed * 1103515245u + 12345u) >> 16 & 31;
    if (blocks[k] != NULL && blocks[k][0] != (char)k) abort();
    free(blocks[k]);
    blocks[k] = malloc(1 + seed % 5000);
    if (blocks[k] == NULL) abort();
    blocks[k][0] = (char)k;
  }
  for (int k = 0; k < 32; ++k) free(blocks[k]);
}

static void *work(void *seed) {
  while (!stop) {
    allocate((unsigned)(size_t)seed, 100);
    ++rounds;
  }
  return NULL;
}

static int status_of_child(int forks) {
  for (int i = 0; i < forks; ++i) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
      alarm(20); /* in place of a deadlock */
      allocate(7, 300);
      rounds = -1000000;
      _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return status == 0 ? 1 : status;
  }
  return 0;
}

int main(int argc, char **argv) {
  static char much[300 << 20];
  pthread_t threads[3];
  int status;
  shmem_init();
  if (argc > 1 && strcmp(argv[1], "much") == 0) {
    memset(much, 1, sizeof much);
    status = status_of_child(2);
  } else {
    for (size_t i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    status = status_of_child(20);
    stop = 1;
    for (size_t i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    if (rounds < 0) status = 2;
    allocate(9, 300);
  }
  if (status != 0) fprintf(stderr, "PE %d: status %#x\n", shmem_my_pe(), (unsigned)status);
  shmem_barrier_all();
  if (shmem_my_pe() == 0 && status == 0) printf("ok allocator\n");
  shmem_finalize();
  return status == 0 ? 0 : 3;
}
