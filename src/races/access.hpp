// Records accesses of the program and of the library's operations, and reports those that race.
#pragma once

#include <cstddef>
#include <cstdint>

#include "races/thread.hpp"

namespace shmemx::races {

struct Range {
  std::uintptr_t begin;
  std::size_t bytes;
};

// A call of a routine, as reports name it.
struct CallPlace {
  const char* routine;  // a literal of this library
  const void* return_address;
};
Where where_of(Thread& thread, const CallPlace& call) noexcept;

// An access by the thread itself, to memory of this PE or, through shmem_ptr, of others.
void record_range(Thread& thread, const Range& range, Kind kind, const Where& where) noexcept;
// An access that has its own stamp, and to symmetric memory of any PE.
struct Operation {
  Stamp stamp;
  Kind kind;
  Where where;
  Knowledge knowledge;
};
void record_local(Thread& thread, const Range& range, const Operation& operation) noexcept;
void record_remote(Thread& thread, const Symmetric& place, std::size_t bytes, const Operation& operation) noexcept;

// An update of the word is not one of those whose values are remembered. Requires its lock.
void forget_values(SyncWord& word) noexcept;

// The program gives memory back, which must not be in use.
void check_freed(const void* block, std::size_t bytes, const CallPlace& call) noexcept;

// A load or store of the program that the compiler has announced: of 1, 2, 4 or 8 bytes that are aligned, and of any.
template <std::size_t kBytes, Kind kKind>
void record_aligned(std::uintptr_t address, const void* pc) noexcept;
void record_wide(std::uintptr_t address, std::size_t bytes, Kind kind, const void* pc) noexcept;

// Requires that they lie in one cell.
constexpr std::uint64_t bytes_mask(std::uintptr_t address, std::size_t bytes) noexcept {
  return ((std::uint64_t{1} << bytes) - 1) << (address % 8);
}

// Of 1, 2, 4 or 8 bytes that are aligned.
template <std::size_t kBytes, Kind kKind>
[[gnu::always_inline]] inline void note_access(const void* at, const void* pc) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if (!marks.hold<kBytes>(address, own_stores, kKind == Kind::store)) [[unlikely]]
    record_aligned<kBytes, kKind>(address, pc);
}

}  // namespace shmemx::races
