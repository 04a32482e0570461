// alltoall and alltoalls of a group whose members all map each other's memory: each PE stores its blocks into all
// dests, beginning with the next PE.
#pragma once

#include "coll/common/symmetric.hpp"
#include "rma/copy.hpp"
#include "rma/strided.hpp"

namespace shmemx::coll {

template <class Group>
inline void push_blocks(Group& group, Symmetric dest, Symmetric source, std::size_t bytes) noexcept {
  const int n = group.size();
  const auto me = static_cast<std::size_t>(group.me());
  for (int i = 1; bytes != 0 && i <= n; ++i) {
    const int pe = group.me() + i < n ? group.me() + i : group.me() + i - n;
    rma::copy(dest.at(pe) + me * bytes, source.at(group.me()) + static_cast<std::size_t>(pe) * bytes, bytes);
  }
}

// `shape` describes one block: nelems elements with their steps on both sides.
template <class Group>
inline void push_strided_blocks(Group& group, Symmetric dest, Symmetric source, const rma::Strided& shape) noexcept {
  const int n = group.size();
  const auto me = static_cast<std::size_t>(group.me());
  const std::size_t dest_block = shape.block_count * shape.dest_step;
  const std::size_t source_block = shape.block_count * shape.source_step;
  for (int i = 1; shape.block_count != 0 && i <= n; ++i) {
    const int pe = group.me() + i < n ? group.me() + i : group.me() + i - n;
    rma::copy_strided(dest.at(pe) + me * dest_block,
                      source.at(group.me()) + static_cast<std::size_t>(pe) * source_block, shape);
  }
}

}  // namespace shmemx::coll
