// The buffers of an operation: they lie in live blocks where they are in the heap, do not overlap, and are not in use
// by an operation that is not complete.
#pragma once

#include <cstdint>

#include "check/pending.hpp"

namespace shmemx::check {

// One range, or several at equal distances.
struct Blocks {
  const void* at;
  std::uint64_t block_bytes;
  std::uint64_t count = 1;
  std::uint64_t step = 0;  // from one begin to the next; at least block_bytes

  std::uint64_t span() const noexcept { return block_bytes == 0 || count == 0 ? 0 : (count - 1) * step + block_bytes; }
};
bool overlap(const Blocks& a, const Blocks& b) noexcept;

// What a put or get does with its local buffer: until it returns, or, kept, until a quiet of the context.
enum class Use : std::uint8_t { source, kept_source, dest, kept_dest };
constexpr bool is_source(Use use) noexcept { return use == Use::source || use == Use::kept_source; }

struct Transfer {
  const char* routine;
  Blocks local;
  Blocks symmetric;  // as this PE names it
  Use use;
  bool is_to_self;  // then the symmetric side is memory of this PE
  Initiator of;
};
// Ends the job if something is wrong with it. Called before data are moved; `symmetric` lies in a live block. Of a kept
// dest note_dest() says afterwards that it is in use.
void check_transfer(const Transfer& transfer) noexcept;

// Ends the job if the signal of a put lies in the data.
void check_signal(const char* routine, const Blocks& dest, const void* signal) noexcept;

// Of a collective: both sides are memory of this PE, in live blocks. May they be the same array?
enum class SameArray : bool { forbidden, allowed };
void check_collective(const char* routine, const Range& dest, const Range& source, SameArray same) noexcept;

}  // namespace shmemx::check
