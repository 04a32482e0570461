/* races: always; class: language; pes: 2 */
/* clock_gettime stores to what the other PE gets. */
#include <shmem.h>
#include <time.h>
static struct timespec stamp;
int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0) {
    struct timespec t;
    shmem_getmem(&t, &stamp, sizeof t, 1);  // race 1
  } else {
    clock_gettime(CLOCK_MONOTONIC, &stamp);  // race 2
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
