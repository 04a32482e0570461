// The blocks of an alltoall on several nodes. The node block of two nodes is all that the PEs of the first have for the
// PEs of the second, packed for one message.
#pragma once

#include <cstddef>

#include "coll/common/group.hpp"
#include "coll/common/nodes.hpp"
#include "rma/strided.hpp"

namespace shmemx::coll {

class NodeBlocks {
 public:
  // `own_dest` and `own_source`: this PE's copies. `shape`: of one block in them.
  NodeBlocks(Team& team, std::byte* own_dest, const std::byte* own_source, const rma::Strided& shape);

  const TeamNodes& nodes() const noexcept { return nodes_; }
  const rma::Strided& shape() const noexcept { return shape_; }
  std::size_t block_bytes() const noexcept { return shape_.block_count * shape_.block_bytes; }
  // This PE's copies of the places of a block, by the PE that writes it and the PE that reads it.
  std::byte* dest_of(int writer) const noexcept { return dest_ + static_cast<std::size_t>(writer) * dest_block_; }
  const std::byte* source_for(int reader) const noexcept {
    return source_ + static_cast<std::size_t>(reader) * source_block_;
  }

  std::size_t node_block_bytes(int from, int to) const noexcept;
  // Copies the blocks of this node for `node` to `at`.
  void pack(int node, std::byte* at) const;
  // Copies the blocks of `node` for this node from `at` into their dests.
  void unpack(int node, const std::byte* at) const;

 private:
  const context::Context& route_;
  const TeamNodes& nodes_;
  std::byte* dest_;
  const std::byte* source_;
  rma::Strided shape_;
  std::size_t dest_block_;  // bytes from one PE's block to the next
  std::size_t source_block_;
};

}  // namespace shmemx::coll
