// Collective calls in words, for diagnostics.
#pragma once

#include <string>

#include "coll/common/call.hpp"
#include "team/pe_set.hpp"

namespace shmemx::coll {

// Returns whether this can be the word of a call of a team of `size` PEs.
bool is_call(CallWord call, int size) noexcept;

// Returns "shmem_int_broadcast (root 0, 4 elements)". `routine` may be empty: then a name is made of the word.
std::string call_text(const std::string& routine, CallWord call, int team_size);

// Returns "PEs 0..3".
std::string members_text(const team::PeSet& set);

}  // namespace shmemx::coll
