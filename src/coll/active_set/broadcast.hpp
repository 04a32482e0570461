// Broadcasts of active sets. They leave the root's dest alone.
#pragma once

#include "coll/active_set/group.hpp"
#include "coll/node/broadcast.hpp"

namespace shmemx::coll {

// All members are mapped: the root stores into every other dest; or the others read the root's source.
void broadcast_push(ActiveGroup& group, const BroadcastCall& call) noexcept;
void broadcast_pull(ActiveGroup& group, const BroadcastCall& call) noexcept;
// Some member is not mapped.
void broadcast_remote(ActiveGroup& group, const BroadcastCall& call) noexcept;

}  // namespace shmemx::coll
