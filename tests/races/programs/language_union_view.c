/* races: always; class: language; pes: 2 */
/* A put of a double through one member of a union, a load of an int through another one. */
#include <shmem.h>

static union {
  double d;
  int half[2];
} u;

int main(void) {
  shmem_init();
  int seen = 0;
  if (shmem_my_pe() == 0)
    shmem_double_p(&u.d, 2.5, 1);  // race 1
  else
    seen = u.half[1];  // race 2
  shmem_finalize();
  return seen == 77;
}
