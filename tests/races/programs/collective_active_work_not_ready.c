/* races: always; class: collective; pes: 2 */
/* pSync is initialised (here its last element, the others are), and the broadcast follows without a barrier: the root
   may store to it before. */
#include <shmem.h>
static long psync[SHMEM_BCAST_SYNC_SIZE];
static long a, b;
int main(void) {
  shmem_init();
  psync[SHMEM_BCAST_SYNC_SIZE - 1] = SHMEM_SYNC_VALUE;  // race 1
  shmem_broadcast64(&b, &a, 1, 0, 0, 0, 2, psync);      // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
