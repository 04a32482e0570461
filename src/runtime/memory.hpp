// The collective memory routines. Each ends (malloc) or begins (free) with a barrier of the world, which also compares
// what the PEs asked for: different sizes on different PEs are a diagnostic, not a corrupted heap.
#pragma once

#include <cstddef>

namespace shmemx::runtime {

struct AllocateRequest {
  const char* routine;
  std::size_t bytes;
  std::size_t alignment;  // a power of two
  bool zero = false;
};

// Null when the heap or the machine's memory is used up, then on all PEs; null without a barrier for 0 bytes.
void* allocate(const AllocateRequest& request) noexcept;
void release(const char* routine, void* block) noexcept;
void* reallocate(const char* routine, void* block, std::size_t bytes) noexcept;

// The most that live blocks have held since init; refused requests do not count.
std::size_t heap_high_water() noexcept;
// Notes in this PE's record how much of its heap is in use, for people. After each change of the allocator.
void note_heap_usage() noexcept;
// At finalize: gives the heap's pages back. Where the system refuses that, the next life of the library knows what it
// has to clear.
void discard_heap() noexcept;

}  // namespace shmemx::runtime
