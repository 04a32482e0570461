// What the last operations on a few targets needed: one cache line for each, at a fixed address, so that the next one
// follows no chain of loads behind the fence of a flush or an atomic instruction. Used by one thread only: where
// several threads call the MPI nothing is kept.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "interpose/job.hpp"

namespace shmemx::interpose {

struct Layout;
struct Window;

// Items of a datatype without gaps, in mapped memory of a target that the current epoch may access.
struct alignas(64) RecentTarget {
  std::uint64_t generation = 0;  // differs from recent_generation: an epoch has ended since
  MPI_Win win{};
  MPI_Datatype type{};
  int rank = -1;
  int count = 0;
  std::uint64_t last_disp = 0;  // the greatest displacement where the items are in range
  std::byte* mapped = nullptr;  // the target's memory
  std::uint32_t bytes = 0;      // of the items
  std::uint16_t disp_unit = 0;
  std::uint8_t update_bytes = 0;  // of the integer, if it is one that an instruction updates; 0: anything else
  bool is_locked = false;         // so that it can be flushed
};

inline constexpr std::size_t kRecentTargets = 16;
inline constinit std::array<RecentTarget, kRecentTargets> recent_targets{};
inline constinit std::uint64_t recent_generation = 1;

// Each rank has one place.
inline RecentTarget& recent_target(int rank) noexcept {
  RecentTarget* target = &recent_targets[static_cast<unsigned>(rank) % kRecentTargets];
  asm("" : "+r"(target));  // one register holds it, so that the callers save none
  return *target;
}

inline bool is_recent(const RecentTarget& target, MPI_Win win, int rank) noexcept {
  if (target.generation != recent_generation || target.win != win || target.rank != rank) [[unlikely]]
    return false;
  return true;
}

// Returns true if `target.count` items are known to be in range there.
[[gnu::always_inline]] inline bool is_recent(const RecentTarget& target, MPI_Win win, int rank, MPI_Aint disp,
                                             MPI_Datatype type) noexcept {
  if (!is_recent(target, win, rank) || target.type != type || static_cast<std::uint64_t>(disp) > target.last_disp)
      [[unlikely]]
    return false;
  return true;
}
[[gnu::always_inline]] inline std::byte* place_in(const RecentTarget& target, MPI_Aint disp) noexcept {
  return target.mapped + static_cast<std::uint64_t>(disp) * target.disp_unit;
}

struct Items {
  int count;
  MPI_Datatype type;
  const Layout* layout;
};
constexpr std::size_t kMostRecentBytes = 64;  // of the items; longer ones are not kept
// Keeps what an operation needed that was allowed and reached mapped memory. Does so at every eighth call only if the
// place is in use, so that targets or datatypes that take turns do not pay for it at each operation.
void keep_recent_target_slow(const Window& window, int rank, const Items& items) noexcept;
[[gnu::always_inline]] inline void keep_recent_target(const Window& window, int rank, const Items& items) noexcept {
  if (!many_threads) keep_recent_target_slow(window, rank, items);
}

// The lock of a target was taken: what is kept of it holds again.
inline void reopen_recent_target(MPI_Win win, int rank) noexcept {
  RecentTarget& target = recent_target(rank);
  if (target.win != win || target.rank != rank) return;
  target.generation = recent_generation;
  target.is_locked = true;
}

// For the end of an epoch, or of a target's part of it.
inline void close_recent_targets() noexcept {
  if (!many_threads) ++recent_generation;
}
// For the end of a window or a datatype, whose handle may be used again.
void forget_recent_targets() noexcept;

}  // namespace shmemx::interpose
