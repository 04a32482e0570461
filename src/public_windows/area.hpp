// Memory of windows in the node's file: behind the blocks, an area for each PE that shares the file. All of them have
// it, so a window is mapped by its offset and nothing has to be handed over.
//
//   area:     directory | segment 0 | segment 1 | ...       kAreaBytes, sparse
//   segment:  twice as long as the one before it; mapped as a whole, by its owner when it allocates there, by
//             another PE when it first attaches a window there. So 65,536 windows are a few mappings.
//
// The directory says which of the PE's windows live. Others write `users` and the locks in it, nothing else.
//
// Edges:  live  owner: generation.store(ended), then users.load; user: users.fetch_add, then generation.load.
//               Sequentially consistent on both sides, so that either the owner sees the user or the user sees the end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "atomic/element_locks.hpp"
#include "onesided/lock_word.hpp"
#include "windows/exposure.hpp"

namespace shmemx::public_windows {

struct Life {
  std::atomic<std::uint32_t> generation;  // of the window that lives here; another number: it does not
  // Transfers of other PEs by CMA that are under way.
  std::atomic<std::uint32_t> users;
};
static_assert(sizeof(Life) == 8 && std::atomic<std::uint32_t>::is_always_lock_free);

struct Directory {
  std::uint64_t probe_address;  // of a word that holds probe_value in the owner's memory: whoever reads it by the pid
  std::uint64_t probe_value;    // has the right process
  std::uint64_t reserved[6];
  Life lives[windows::kMaxWindows];
  atomic::ElementLocks element_locks;
  onesided::LockWord locks[windows::kMaxWindows];
};

inline constexpr std::uint64_t kAreaBytes = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kDirectoryBytes = std::uint64_t{32} << 20;
inline constexpr std::uint64_t kFirstSegmentBytes = std::uint64_t{64} << 20;
inline constexpr int kSegments = 13;
static_assert(sizeof(Directory) <= kDirectoryBytes);

constexpr std::uint64_t segment_bytes(int segment) { return kFirstSegmentBytes << segment; }
// In the area.
constexpr std::uint64_t segment_offset(int segment) {
  return kDirectoryBytes + kFirstSegmentBytes * ((std::uint64_t{1} << segment) - 1);
}
static_assert(segment_offset(kSegments) <= kAreaBytes);

// By start(). False: the file cannot have that size.
bool set_up_areas() noexcept;

// The directory of a PE, mapped when first asked for; null when it cannot be.
Directory* directory_of(int pe) noexcept;

// Memory of this PE's area. `place` is its offset in the area. Null: no memory.
std::byte* allocate_memory(std::size_t bytes, std::uint64_t& place) noexcept;
void release_memory(std::uint64_t place) noexcept;

// Returns whether the range lies in this PE's area, and where.
bool find_own_memory(const std::byte* base, std::uint64_t bytes, std::uint64_t& place) noexcept;

// Where a range of another PE's area is mapped here; null when it is no such range or there is no address space.
std::byte* map_memory(int pe, std::uint64_t place, std::uint64_t bytes) noexcept;

}  // namespace shmemx::public_windows
