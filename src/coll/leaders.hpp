// How members of a node come together: at their leader, on shared lines. Between nodes only leaders (or PEs of the same
// rank on their nodes) talk, by messages.
#pragma once

#include <vector>

#include "coll/barrier.hpp"
#include "coll/nodes.hpp"

namespace shmemx::coll {

// One meeting at the leader:
//   if (gather_at_leader(...)) { ...everybody else of the node waits...; release_node(...); }
// True on the leader, when all have come. On the others it returns false when the leader has dismissed them. `epoch` is
// one that all members of the team have counted.
// Edge:  arrive  arrived.fetch_add -> arrived.load; arrival.store -> arrival.load    all stores of those who came; all
//                stores of the leader before release_node()
bool gather_at_leader(Team& team, const char* routine, std::uint64_t epoch) noexcept;
void release_node(Team& team, const char* routine, std::uint64_t epoch) noexcept;

// The same with nothing between.
void sync_node(Team& team, const char* routine) noexcept;

// Returns the members of other nodes that wait for this PE in such a barrier: leaders, if this PE is one.
std::vector<int> awaiting_in_barrier(Team& team);

// The barrier of a team on several nodes.
void barrier_of_nodes(Team& team, const char* routine) noexcept;

}  // namespace shmemx::coll
