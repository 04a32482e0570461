#include <vector>

#include "coll/internode/alltoall_leaders.hpp"

namespace shmemx::coll {

bool exchange_directly(const NodeBlocks& blocks, FirstRound& round) {
  const TeamNodes& nodes = blocks.nodes();
  const auto n = static_cast<std::size_t>(nodes.count());
  std::vector<std::byte> data;
  std::vector<std::size_t> begin(n + 1, 0);  // of the node block for the node that many places ahead
  const auto prepare = [&] {
    for (int i = 1; i < nodes.count(); ++i) {
      const std::size_t at = data.size();
      begin[static_cast<std::size_t>(i)] = at;
      data.resize(at + blocks.node_block_bytes(nodes.mine, nodes.ahead(i)));
      blocks.pack(nodes.ahead(i), data.data() + at);
    }
    begin[n] = data.size();
  };
  const auto send = [&] {
    for (int i = 1; i < nodes.count(); ++i) {
      const std::size_t at = begin[static_cast<std::size_t>(i)];
      round.send(nodes.ahead(i), {data.data() + at, begin[static_cast<std::size_t>(i) + 1] - at});
    }
  };
  if (!round.gather(prepare, send)) return false;
  for (int i = 1; i < nodes.count(); ++i) {
    const int from = nodes.behind(i);
    const EagerMessage message = round.receive(from, blocks.node_block_bytes(from, nodes.mine));
    blocks.unpack(from, message.data());
  }
  return true;
}

}  // namespace shmemx::coll
