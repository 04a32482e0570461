// Sums over all PEs, as the library under test offers them: of the team of the world from OpenSHMEM 1.5 on, of the
// active set of all PEs before.
#pragma once

#include <shmem.h>

#include <algorithm>
#include <cstddef>

#include "../support/job.hpp"

namespace shmemx::bench {

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION > 4

inline void sum_of_all(double* dest, const double* source, std::size_t count) {
  if (shmem_double_sum_reduce(SHMEM_TEAM_WORLD, dest, source, count) != 0) die("a reduction failed");
}
inline void sum_of_all(long* dest, const long* source, std::size_t count) {
  if (shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, count) != 0) die("a reduction failed");
}

#else

constexpr std::size_t kMostSummed = std::size_t{1} << 16;
constexpr std::size_t kSumWorkWords = std::max<std::size_t>(kMostSummed / 2 + 1, SHMEM_REDUCE_MIN_WRKDATA_SIZE);

// Work arrays of a type, by turns: when all PEs are in one reduction they have left the one before it.
template <class T>
struct SumWork {
  T words[2][kSumWorkWords];
  long sync[2][SHMEM_REDUCE_SYNC_SIZE];
  unsigned turn = 0;
  SumWork() {
    for (auto& one : sync) std::fill(std::begin(one), std::end(one), SHMEM_SYNC_VALUE);
  }
};
inline SumWork<double> work_of_doubles;
inline SumWork<long> work_of_longs;

inline void sum_of_all(double* dest, const double* source, std::size_t count) {
  const unsigned turn = work_of_doubles.turn++ % 2;
  shmem_double_sum_to_all(dest, const_cast<double*>(source), static_cast<int>(count), 0, 0, shmem_n_pes(),
                          work_of_doubles.words[turn], work_of_doubles.sync[turn]);
}
inline void sum_of_all(long* dest, const long* source, std::size_t count) {
  const unsigned turn = work_of_longs.turn++ % 2;
  shmem_long_sum_to_all(dest, const_cast<long*>(source), static_cast<int>(count), 0, 0, shmem_n_pes(),
                        work_of_longs.words[turn], work_of_longs.sync[turn]);
}

#endif

}  // namespace shmemx::bench
