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

// The nodes that this one signals to and awaits a signal of. Other nodes than this one.
struct NodePair {
  int to;
  int from;
};
// Gathers, with a round between nodes: the last member to arrive on a node signals to the leader of another one, so
// that nobody has to be woken for that. Returns true on the leader, when its node and the one before have arrived.
// Edge:  signalled  released.store of the leader, arrived.fetch_add -> arrived.load of the leader, released.load
//                   one of the two sees the other: the leader all arrivals, or the last member that the leader has the
//                   signal and may sleep until all have arrived
bool gather_and_signal(Team& team, const char* routine, std::uint64_t epoch, const NodePair& pair) noexcept;
void release_node(Team& team, const char* routine, std::uint64_t epoch) noexcept;

// A barrier of the members of this PE's node.
void sync_node(Team& team, const char* routine) noexcept;

}  // namespace shmemx::coll
