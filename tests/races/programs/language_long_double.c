/* races: always; class: language; pes: 2 */
/* A long double is stored while a put goes to its last bytes. */
#include <shmem.h>

static union {
  long double value;
  int parts[4];
} u;

int main(void) {
  shmem_init();
  if (shmem_my_pe() == 0)
    shmem_int_p(&u.parts[2], 1, 1);  // race 1
  else
    u.value = 2;  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
