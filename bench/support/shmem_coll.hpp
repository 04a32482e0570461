// The collectives of the bench, as the library under test offers them: team routines from OpenSHMEM 1.5 on, active
// sets before. Active-set routines alternate between several work arrays, as the standard demands.
#pragma once

#include <shmem.h>

#include "work.hpp"

namespace shmemx::bench {

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION > 4

inline void prepare_collectives() {}
inline void sum(Work&, long* dest, const long* source, std::size_t count) {
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, count);
}
inline void broadcast(Work&, long* dest, const long* source, std::size_t count) {
  shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, count, 0);
}
inline void collect(Work&, long* dest, const long* source, std::size_t count) {
  shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, count);
}
inline void exchange(Work&, long* dest, const long* source, std::size_t count) {
  shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, count);
}

#else

constexpr int kTurns = 16;
constexpr int kWorkTurns = 2;
constexpr std::size_t kSyncWords =
    2 * SHMEM_COLLECT_SYNC_SIZE + 2 * SHMEM_ALLTOALL_SYNC_SIZE + 2 * SHMEM_REDUCE_SYNC_SIZE + 2 * SHMEM_BCAST_SYNC_SIZE;
constexpr std::size_t kWorkWords = (std::size_t{1} << 17) / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE;
inline long sync_words[kTurns][kSyncWords];
inline long work_words[kWorkTurns][kWorkWords];

inline void prepare_collectives() {
  for (auto& turn : sync_words)
    for (long& word : turn) word = SHMEM_SYNC_VALUE;
}
// Before an array is reused all PEs must have left it; one barrier in kTurns ensures that.
inline long* next_sync(Work& work) {
  if (++work.sequence % kTurns == 0) shmem_barrier_all();
  return sync_words[work.sequence % kTurns];
}

inline void sum(Work& work, long* dest, const long* source, std::size_t count) {
  long* sync = next_sync(work);
  shmem_long_sum_to_all(dest, const_cast<long*>(source), static_cast<int>(count), 0, 0, work.pes,
                        work_words[work.sequence % kWorkTurns], sync);
}
inline void broadcast(Work& work, long* dest, const long* source, std::size_t count) {
  shmem_broadcast64(dest, source, count, 0, 0, 0, work.pes, next_sync(work));
}
inline void collect(Work& work, long* dest, const long* source, std::size_t count) {
  shmem_fcollect64(dest, source, count, 0, 0, work.pes, next_sync(work));
}
inline void exchange(Work& work, long* dest, const long* source, std::size_t count) {
  shmem_alltoall64(dest, source, count, 0, 0, work.pes, next_sync(work));
}

#endif

}  // namespace shmemx::bench
