// Reductions over several nodes: what both algorithms and scans use. The order is always the same: on each node in the
// order of PE numbers, then node by node, so all PEs get the same bits.
#pragma once

#include "coll/nodes.hpp"
#include "coll/remote.hpp"

namespace shmemx::coll {

// A part of a symmetric array, named by this PE's own copy.
struct Part {
  const std::byte* own_copy;
  std::size_t nelems;
};

// What the members of this node have of it, combined into `into`.
void combine_node(Team& team, const Part& source, const Combine& combine, std::byte* into) noexcept;
// The result into the dest of all members of this node.
void store_on_node(Team& team, std::byte* own_dest, const std::byte* result, std::size_t bytes) noexcept;

void reduce_by_leaders(TeamGroup& group, std::byte* dest, const Part& source, const Combine& combine) noexcept;
void reduce_by_shares(TeamGroup& group, std::byte* dest, const Part& source, const Combine& combine) noexcept;

}  // namespace shmemx::coll
