#include <shmem.h>

int main(void) {
  static unsigned present = 0; /* a bit for each PE, on PE 0 */
  shmem_init();
  shmem_uint_atomic_or(&present, 1u << shmem_my_pe(), 0);
  shmem_barrier_all();
  const unsigned all = (1u << shmem_n_pes()) - 1;
  const int wrong = shmem_uint_atomic_fetch(&present, 0) != all;
  shmem_finalize();
  return wrong;
}
