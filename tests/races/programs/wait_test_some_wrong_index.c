/* races: always; class: wait; pes: 3 */
/* shmem_test_some tells of PE 1's flag, and PE 0 reads what PE 2 puts. PE 2 starts only after PE 0 has asked. */
#include <shmem.h>
#include <unistd.h>

static int flags[2];
static int go;
static int data[2];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  int sum = 0;
  if (me > 0) {
    if (me == 2) shmem_int_wait_until(&go, SHMEM_CMP_EQ, 1);
    shmem_int_p(&data[me - 1], 5 * me, 0);  // race 1
    shmem_fence();
    shmem_int_atomic_set(&flags[me - 1], 1, 0);
  } else {
    size_t indices[2];
    while (shmem_int_test_some(flags, 2, indices, NULL, SHMEM_CMP_EQ, 1) == 0) usleep(50);
    shmem_int_atomic_set(&go, 1, 2);
    sum = data[1 - indices[0]];  // race 2
  }
  shmem_finalize();
  return sum < 0;
}
