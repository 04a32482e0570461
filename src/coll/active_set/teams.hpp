// Active sets as teams. The first collective on a set with a pSync array makes a team of it, by agreement through that
// array; from then on the set takes the algorithms of teams, and the array stays as it is. A set has a team for each of
// its arrays, since threads may use them at the same time. Where no index is left, and for sets of one PE, the
// algorithms of ActiveGroup remain.
#pragma once

#include "coll/active_set/group.hpp"
#include "coll/common/team.hpp"

namespace shmemx::coll {

// What names an active set and its array on this PE. All members use the same numbers and the same symmetric object.
struct ActiveSet {
  int start;
  int log_stride;
  int size;
  const long* psync;

  bool operator==(const ActiveSet&) const = default;
};

// Returns the team of a set, null if it has none yet or will have none. Any thread.
Team* find_active_team(const ActiveSet& set) noexcept;

// Called if there is none, by all members, at the begin of each collective: makes the team at the first call. Returns
// null, on all members, if the set has none.
Team* make_active_team(ActiveGroup& group, const ActiveSet& set) noexcept;

// Returns whether this PE has been in make_active_team() for the set, or is about to return from it.
bool has_met(const ActiveSet& set) noexcept;

// The set that this thread makes a team of, for diagnostics; null: none.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local const ActiveSet* awaited_set = nullptr;

// Ends the teams of all active sets. For finalize.
void reset_active_teams() noexcept;

}  // namespace shmemx::coll
