// Broadcasts of a team on several nodes. Each node has a representative: the root on its own node, else the leader.
// Segments go from representative to representative down a tree or along a chain, and from each to its node peers.
#pragma once

#include "coll/common/group.hpp"
#include "coll/node/broadcast.hpp"

namespace shmemx::coll {

void broadcast_remote(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root,
                      RootDest root_dest) noexcept;

}  // namespace shmemx::coll
