// Broadcast: chooses the algorithm. The team form writes the root's dest, too; the active-set form leaves it alone.
#pragma once

#include "coll/active_set/broadcast.hpp"
#include "coll/common/group.hpp"
#include "coll/common/select.hpp"
#include "coll/internode/broadcast.hpp"
#include "coll/node/broadcast.hpp"

namespace shmemx::coll {

inline void broadcast(TeamGroup group, const BroadcastCall& call) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return broadcast_remote(group, call);
  Team& team = group.team();
  switch (node_broadcast(call.bytes, team.size())) {
    case NodeBroadcast::pull:
      return broadcast_pull(team, group.routine(), call);
    case NodeBroadcast::push_flat:
      broadcast_push_flat(team, group.routine(), call);
      break;
    case NodeBroadcast::push_tree:
      broadcast_push_tree(team, group.routine(), call);
  }
  const std::byte* const own = call.source.at(team.me());
  if (team.me() == call.root && call.dest.at(call.root) != own && call.bytes != 0)
    rma::copy(call.dest.at(call.root), own, call.bytes);
}

inline void broadcast(ActiveGroup& group, const BroadcastCall& call) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return broadcast_remote(group, call);
  if (active_broadcast_pushes(call.bytes, group.size())) return broadcast_push(group, call);
  broadcast_pull(group, call);
}

}  // namespace shmemx::coll
