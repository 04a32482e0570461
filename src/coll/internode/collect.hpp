// fcollect and collect of a team on several nodes. Each PE stores its contribution into the dest of its node peers.
// Then either the leaders exchange the contributions of their nodes, or each PE sends its own to one PE of every other
// node, which stores it for its node peers. The k-prefix exchange (prefix_groups.hpp) has to be asked for.
#pragma once

#include "coll/common/group.hpp"
#include "coll/common/offsets.hpp"
#include "coll/common/select.hpp"

namespace shmemx::coll {

void set_collect(const CollectSetting& asked) noexcept;

void fcollect_remote(TeamGroup& group, Symmetric dest, const std::byte* source, std::size_t bytes) noexcept;
void collect_remote(TeamGroup& group, Symmetric dest, const std::byte* source, const Offsets& offsets) noexcept;

}  // namespace shmemx::coll
