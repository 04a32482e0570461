/* races: always; class: language; pes: 2 */
/* A std::vector is the source of a non-blocking put, and an algorithm changes it before the quiet. */
#include <shmem.h>

#include <vector>

static int dest[8];

int main() {
  shmem_init();
  std::vector<int> source(8, 1);
  if (shmem_my_pe() == 0) {
    shmem_int_put_nbi(dest, source.data(), source.size(), 1);  // race 1
    for (int& value : source) value = 2;                       // race 2
    shmem_quiet();
  }
  shmem_finalize();
  return 0;
}
