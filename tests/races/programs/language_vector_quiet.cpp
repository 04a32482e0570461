/* races: none; class: language; pes: 2 */
/* A std::vector is the source of a non-blocking put, and grows behind the quiet. */
#include <shmem.h>

#include <vector>

static int dest[8];

int main() {
  shmem_init();
  const int me = shmem_my_pe();
  std::vector<int> source(8, 1);
  if (me == 0) {
    shmem_int_put_nbi(dest, source.data(), source.size(), 1);
    shmem_quiet();
    source.resize(1000, 3);
    source[0] = 2;
  }
  shmem_barrier_all();
  const bool wrong = me == 1 && dest[0] != 1;
  shmem_finalize();
  return wrong ? 1 : 0;
}
