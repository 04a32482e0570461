// What reductions and scans over several nodes share. The order of combining is always the same: on each node in the
// order of PE numbers, then node by node, so all PEs get the same bits.
#pragma once

#include "coll/common/combine.hpp"
#include "coll/common/nodes.hpp"
#include "coll/common/symmetric.hpp"

namespace shmemx::coll {

// A part of a symmetric array, named by this PE's own copy.
struct Part {
  const std::byte* own_copy;
  std::size_t nelems;
};

// Combines the copies of all members of this node into `into`.
void combine_node(Team& team, const Part& source, const Combine& combine, std::byte* into) noexcept;
// Stores a result into the dest of all members of this node.
void store_on_node(Team& team, std::byte* own_dest, const std::byte* result, std::size_t bytes) noexcept;

}  // namespace shmemx::coll
