// The blocks of the symmetric heap as the program has them: where they were allocated and freed, the red zones around
// them, and the quarantine, which keeps freed blocks for a while. Offsets count from the heap's begin, and are the same
// on all PEs.
//
// Memory routines are called by one thread at a time, operations by any: one mutex guards all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "check/report.hpp"
#include "heap/block_allocator.hpp"

namespace shmemx::check {

using heap::Offset;

// What is added to a request; nothing if red zones are off.
struct Padding {
  std::uint64_t before = 0;  // keeps the alignment
  std::uint64_t behind = 0;
};
Padding padding_of(std::uint64_t bytes, std::uint64_t alignment) noexcept;

// This PE's heap, at the begin of a life of the library; it has no blocks. `bytes`: the same on all PEs.
void watch_heap(std::byte* heap, std::uint64_t bytes) noexcept;

struct Span {
  Offset begin;
  std::uint64_t bytes;
};

// The allocator has given out `outer`, with a block of the program of `bytes` behind the front padding. Writes the red
// zones, before another PE knows of the block. take_back(): another PE could not allocate it.
void add_block(const Span& outer, const Padding& padding, std::uint64_t bytes, const char* routine) noexcept;
void take_back(Offset begin) noexcept;

struct BlockView {
  Span inner;  // what the program has
  Span outer;
  bool is_freed;
};
// The block that holds the offset, its red zones included.
std::optional<BlockView> find_block(Offset offset) noexcept;

// A live block was freed. It is kept where red zones are on. Returns what of it need not be kept in memory, by pages;
// nothing if it is small.
Span retire(Offset begin, const char* routine) noexcept;
// The begin of what the allocator may give out again, the block that was freed first before others: one that has no
// room in the quarantine any more, or any. Both end the job if it was written to meanwhile.
std::optional<Offset> take_expired(const char* routine) noexcept;
std::optional<Offset> take_oldest(const char* routine) noexcept;

// Looks at red zones and freed blocks of this PE, at all of them or at some more, so that all have their turn. Ends the
// job if something was stored there.
enum class Extent { some, all };
void verify(const char* routine, Extent extent) noexcept;

// Ends the job if the bytes do not lie in one live block. `offset` is in the heap.
void check_access(const char* routine, const char* argument, Offset offset, std::uint64_t bytes) noexcept;
// Ends the job if the bytes do not lie in one live block of the heap or one static variable of this PE.
void check_memory(const char* routine, const char* argument, const void* address, std::uint64_t bytes) noexcept;
// Ends the job: `offset` begins no live block.
[[noreturn]] void bad_free(const char* routine, Offset offset) noexcept;

// Ends the job if the program has given a block to a routine of the C library. `right_one`: the routine for it.
void check_foreign_free(const char* routine, const char* right_one, const void* memory) noexcept;

// Calls use(bytes, place) for each live block.
void for_each_live_block(void (*use)(void* state, std::uint64_t bytes, const Place& place), void* state) noexcept;

}  // namespace shmemx::check
