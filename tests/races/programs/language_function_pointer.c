/* races: always; class: language; pes: 2 */
/* Both accesses happen in functions called through a table of pointers. */
#include <shmem.h>

static long word;

static void put(long* where) {
  shmem_long_p(where, 3, 1);  // race 1
}

static void store(long* where) {
  *where = 4;  // race 2
}

static void (*const actions[2])(long*) = {put, store};

int main(void) {
  shmem_init();
  shmem_barrier_all();
  actions[shmem_my_pe()](&word);
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
