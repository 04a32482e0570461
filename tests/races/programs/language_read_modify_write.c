/* races: always; class: language; pes: 2 */
/* ++ on an element of the own array is a load and a store; PE 0 gets the element. */
#include <shmem.h>

static unsigned char counts[8];

int main(void) {
  shmem_init();
  unsigned char seen = 0;
  shmem_barrier_all();
  if (shmem_my_pe() == 0)
    seen = shmem_uchar_g(&counts[5], 1);  // race 1
  else
    ++counts[5];  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return seen > 1;
}
