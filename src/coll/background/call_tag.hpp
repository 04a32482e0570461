// What a member has called, in front of each short message of a collective: members that make different calls find out
// when they meet, as those of collectives that block (common/matching.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "coll/background/round.hpp"
#include "coll/common/call.hpp"

namespace shmemx::coll::background {

// Set in the words of all such calls, never in those of collectives that block.
inline constexpr CallWord kBackgroundMark = 0x8000;

struct CallTag {
  // As a call word (common/call.hpp), with the mark, and the type and the operator of a reduction, in the low 16 bits.
  // Counts are bytes, of a reduction elements.
  std::uint64_t call = 0;
  std::uint64_t site = 0;  // where it returns to, as the executable's file has it; a word of no meaning outside of it
};
static_assert(sizeof(CallTag) == 16);

// Longer messages follow a message that holds the tag alone.
inline constexpr std::size_t kMostTagged = 4096;

constexpr std::uint64_t background_word(CallFamily family, std::size_t count, int root = 0,
                                        const Operator& op = {}) noexcept {
  return call_word(kind_of(family), count, root) | kBackgroundMark | static_cast<std::uint64_t>(op.type) << 8 |
         static_cast<std::uint64_t>(op.op);
}
constexpr CallFamily background_family(CallWord call) noexcept { return static_cast<CallFamily>(kind_in(call)); }

// Returns "shmemx_reduce_nb (4 elements, int32 sum)"; `routine` may be null: then a name is made of the word.
std::string background_text(const char* routine, std::uint64_t call);

// Two members, of the world, whose calls differ.
struct Mismatch {
  int mine;
  int theirs;
  std::string my_call;
  std::string their_call;
  std::uint64_t my_site;
  std::uint64_t their_site;
};
// Ends the job; set by runtime.
using MismatchFunction = void (*)(const Mismatch&) noexcept;
inline constinit MismatchFunction on_mismatched_call = nullptr;

}  // namespace shmemx::coll::background
