#include <shmem.h>

int main(void) {
  static int data[3];
  static uint64_t ready = 0;
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  const int mine[3] = {me, me, me};
  shmem_int_put_signal(data, mine, 3, &ready, 1, SHMEM_SIGNAL_SET, (me + 1) % n);
  shmem_signal_wait_until(&ready, SHMEM_CMP_EQ, 1); /* of the PE before this one */
  const int wrong = data[2] != (me + n - 1) % n;
  shmem_finalize();
  return wrong;
}
