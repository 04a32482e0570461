// How the members of a node synchronise: at their leader, on shared flags. Between nodes only leaders exchange
// messages, or PEs of equal index on their nodes.
#pragma once

#include "coll/common/nodes.hpp"

namespace shmemx::coll {

// A collective by leaders is this, where `epoch` is one that all members of the team have counted:
//   if (!gather_at_leader(team, routine, epoch)) return;
//   ... the leader works while the others of its node wait ...
//   release_node(team, routine, epoch);
// Returns true on the leader, when all members of its node have arrived. Returns false on the others, when the leader
// has released them.
// Edge:  arrive  arrived.fetch_add -> arrived.load; flag.store -> flag.load    all stores of the members that arrived;
//                all stores of the leader before release_node()
bool gather_at_leader(Team& team, const char* routine, std::uint64_t epoch) noexcept;

void release_node(Team& team, const char* routine, std::uint64_t epoch) noexcept;

// The first step of gather_at_leader(): this PE counts itself as arrived.
struct Arrival {
  bool is_last;
  std::uint64_t due;  // what the counter shows when all have arrived
  bool agrees;        // the last one: all have made the same calls
};
Arrival arrive_on_node(Team& team) noexcept;
// Wakes the leader of this PE's node if it sleeps.
void wake_leader(Team& team) noexcept;

// A barrier of the members of this PE's node.
void sync_node(Team& team, const char* routine) noexcept;

}  // namespace shmemx::coll
