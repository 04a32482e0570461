// Making and ending teams. Collective over the parent; all members agree on the slot and on success before anybody
// returns.
#pragma once

#include <span>

#include "coll/group.hpp"

namespace shmemx::coll {

// A child in the parent's numbering.
struct Triplet {
  int start;
  int stride;
  int size;
};

// What a split gives this PE: the index of its child in the team table, 0 when it is in none; or failure, on all PEs
// alike.
struct SplitResult {
  bool ok;
  std::size_t team_index;
};

// `children` are disjoint. All of them are made, or none.
SplitResult split(Team& parent, const char* routine, std::span<const Triplet> children, int num_contexts) noexcept;

// Puts this PE's view of a team into slot `index`. For the predefined teams, and for split().
Team& install_team(std::size_t index, const context::Context& route, std::uint64_t handle) noexcept;

// Local: gives the slot back. Everybody in the team has agreed to end it before (a barrier of the team).
void release_team(Team& team) noexcept;

// Forgets all teams. For finalize.
void reset_teams() noexcept;

}  // namespace shmemx::coll
