/* races: always; class: language; pes: 2 */
/* PE 1 copies a struct as a whole while PE 0 puts to a member of it. */
#include <shmem.h>

struct particle {
  double position[3];
  long charge;
};
static struct particle shared;

int main(void) {
  shmem_init();
  struct particle copy = {{0}, 0};
  if (shmem_my_pe() == 0)
    shmem_long_p(&shared.charge, 4, 1);  // race 1
  else
    copy = shared;  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return copy.charge < 0;
}
