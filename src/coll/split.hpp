// Making and ending teams. Collective over the parent; all members agree on the slot and on success before anybody
// returns.
#pragma once

#include <span>

#include "coll/common/group.hpp"

namespace shmemx::coll {

// A child in the parent's numbering.
struct Triplet {
  int start;
  int stride;
  int size;
};

// What a split returns: success or failure, the same on all PEs; and the index of this PE's child in the team table, 0
// if it is in none.
struct SplitResult {
  bool ok;
  std::size_t team_index;
};

// Makes all of `children`, which are disjoint, or none.
SplitResult split(Team& parent, const char* routine, std::span<const Triplet> children, int num_contexts) noexcept;

// Enters this PE's view of a team in slot `index`: a predefined team, or one made by split().
Team& install_team(std::size_t index, const context::Context& route, std::uint64_t handle) noexcept;

// Enters this PE's view of a new team: its counters begin, and this PE's flags are cleared. No member uses it before
// all have done so.
Team& open_team(std::size_t index, const context::Context& route, std::uint64_t handle) noexcept;
// Ends this PE's view of a team. Local; a barrier of the team has to precede it.
void close_team(Team& team) noexcept;

// Ends this PE's view of a team, and gives its index back.
void release_team(Team& team) noexcept;

// Returns what the digests of all teams of all PEs make together (common/matching.hpp); the same on all PEs.
std::uint64_t digest_of_all_pes() noexcept;

// Compares the calls of teams of some PEs whose latest collective is one that members may leave before others: such
// calls need not have met. For finalize; all members call it.
void compare_passed_calls(const char* routine) noexcept;

// Ends all teams but the predefined ones. For finalize.
void reset_teams() noexcept;

}  // namespace shmemx::coll
