// Broadcast: chooses the algorithm.
#pragma once

#include "coll/active_set/broadcast.hpp"
#include "coll/common/group.hpp"
#include "coll/common/select.hpp"
#include "coll/internode/broadcast.hpp"
#include "coll/node/broadcast.hpp"

namespace shmemx::coll {

inline void broadcast(TeamGroup group, Symmetric dest, Symmetric source, std::size_t bytes, int root,
                      RootDest root_dest = RootDest::written) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return broadcast_remote(group, dest, source, bytes, root, root_dest);
  Team& team = group.team();
  const std::byte* const own = source.at(team.me());
  switch (node_broadcast(bytes, team.size(), team.counting)) {
    case NodeBroadcast::pull:
      return broadcast_pull(group, dest, source, bytes, root, root_dest);
    case NodeBroadcast::push_flat:
      broadcast_push_flat(team, group.routine(), dest, own, bytes, root);
      break;
    case NodeBroadcast::push_tree:
      broadcast_push_tree(team, group.routine(), dest, own, bytes, root);
  }
  if (team.me() == root && root_dest == RootDest::written && dest.at(root) != own && bytes != 0)
    rma::copy(dest.at(root), own, bytes);
}

inline void broadcast(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root,
                      RootDest = RootDest::kept) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return broadcast_remote(group, dest, source, bytes, root);
  if (active_broadcast_pushes(bytes, group.size())) return broadcast_push(group, dest, source, bytes, root);
  broadcast_pull(group, dest, source, bytes, root);
}

}  // namespace shmemx::coll
