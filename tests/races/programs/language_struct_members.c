/* races: none; class: language; pes: 2 */
/* PE 1 stores to the members of a struct that PE 0 does not put to, and copies it behind the barrier. */
#include <shmem.h>

struct particle {
  double position[3];
  long charge;
};
static struct particle shared;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  if (me == 0) shmem_long_p(&shared.charge, 4, 1);
  if (me == 1) shared.position[2] = 1.5;
  shmem_barrier_all();
  const struct particle copy = shared;
  const int wrong = me == 1 && (copy.charge != 4 || copy.position[2] != 1.5);
  shmem_finalize();
  return wrong;
}
