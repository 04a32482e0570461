// Broadcasts of active sets. They leave the root's dest alone.
#pragma once

#include "coll/active_set/group.hpp"

namespace shmemx::coll {

// All members are mapped: the root stores into every other dest; or the others read the root's source.
void broadcast_push(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root) noexcept;
void broadcast_pull(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root) noexcept;
// Some member is not mapped.
void broadcast_remote(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root) noexcept;

}  // namespace shmemx::coll
