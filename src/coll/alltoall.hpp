// alltoall and alltoalls: each PE has a block for every PE.
#pragma once

#include "coll/active_set/alltoall.hpp"
#include "coll/common/group.hpp"
#include "coll/internode/alltoall.hpp"
#include "coll/node/alltoall.hpp"

namespace shmemx::coll {

template <class Group>
inline void alltoall(Group& group, Symmetric dest, Symmetric source, std::size_t bytes) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return alltoalls_remote(group, dest, source, {bytes, bytes == 0 ? 0U : 1U, bytes, bytes});
  push_blocks(group, dest, source, bytes);
  group.sync();
}

// `shape` describes one block.
template <class Group>
inline void alltoalls(Group& group, Symmetric dest, Symmetric source, const rma::Strided& any_shape) noexcept {
  const rma::Strided shape = rma::joined(any_shape);
  if (!group.is_direct()) [[unlikely]]
    return alltoalls_remote(group, dest, source, shape);
  push_strided_blocks(group, dest, source, shape);
  group.sync();
}

}  // namespace shmemx::coll
