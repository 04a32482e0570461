#include "coll/internode/node_blocks.hpp"

#include "coll/common/symmetric.hpp"

namespace shmemx::coll {

NodeBlocks::NodeBlocks(Team& team, std::byte* own_dest, const std::byte* own_source, const rma::Strided& shape)
    : route_(team.route),
      nodes_(nodes_of(team)),
      dest_(own_dest),
      source_(own_source),
      shape_(shape),
      dest_block_(shape.block_count * shape.dest_step),
      source_block_(shape.block_count * shape.source_step) {}

std::size_t NodeBlocks::node_block_bytes(int from, int to) const noexcept {
  return static_cast<std::size_t>(nodes_.size_of(from)) * static_cast<std::size_t>(nodes_.size_of(to)) * block_bytes();
}

void NodeBlocks::pack(int node, std::byte* at) const {
  const rma::Strided packing{shape_.block_bytes, shape_.block_count, shape_.block_bytes, shape_.source_step};
  for (const int writer : nodes_.here()) {
    for (const int reader : nodes_.on(node)) {
      rma::copy_strided(at, mapped_copy(route_, source_for(reader), writer), packing);
      at += block_bytes();
    }
  }
}

void NodeBlocks::unpack(int node, const std::byte* at) const {
  const rma::Strided unpacking{shape_.block_bytes, shape_.block_count, shape_.dest_step, shape_.block_bytes};
  for (const int writer : nodes_.on(node)) {
    for (const int reader : nodes_.here()) {
      rma::copy_strided(mapped_copy(route_, dest_of(writer), reader), at, unpacking);
      at += block_bytes();
    }
  }
}

}  // namespace shmemx::coll
