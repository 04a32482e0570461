/* races: none; class: language; pes: 2; flags: -std=c++17 */
/* std::copy, std::fill and std::sort on symmetric memory, in turns with puts. */
#include <shmem.h>

#include <algorithm>
#include <vector>

int main() {
  shmem_init();
  auto* const field = static_cast<int*>(shmem_malloc(64 * sizeof(int)));
  std::vector<int> mine(64);
  bool wrong = false;
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 64; ++i) mine[static_cast<std::size_t>(i)] = 64 - i + k;
    shmem_int_put(field, mine.data(), mine.size(), 1 - shmem_my_pe());
    shmem_barrier_all();
    std::sort(field, field + 64);
    std::copy(field, field + 64, mine.begin());
    std::fill(field, field + 64, 0);
    wrong = wrong || mine[0] != 1 + k || mine[63] != 64 + k;
    shmem_sync_all();
  }
  shmem_free(field);
  shmem_finalize();
  return wrong;
}
