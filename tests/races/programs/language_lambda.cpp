/* races: always; class: language; pes: 2; flags: -std=c++17 */
/* A lambda kept in std::function reads what another PE puts; the algorithm of the C++ library does the loop. */
#include <shmem.h>

#include <algorithm>
#include <functional>
#include <numeric>

static long field[16];

int main() {
  shmem_init();
  std::function<long()> sum = [] { return std::accumulate(field, field + 16, 0L); };  // race 2
  long seen = 0;
  if (shmem_my_pe() == 0)
    shmem_long_p(&field[9], 4, 1);  // race 1
  else
    seen = sum();  // race 2
  shmem_barrier_all();
  shmem_finalize();
  return seen > 4;
}
