#include <vector>

#include "coll/common/eager.hpp"
#include "coll/internode/alltoall_leaders.hpp"

namespace shmemx::coll {

void exchange_directly(TeamGroup& group, const NodeBlocks& blocks, std::uint64_t epoch) {
  const TeamNodes& nodes = blocks.nodes();
  std::vector<std::byte> data;
  for (int i = 1; i < nodes.count(); ++i) {
    const int to = nodes.ahead(i);
    data.resize(blocks.node_block_bytes(nodes.mine, to));
    blocks.pack(to, data.data());
    send_eager(group.team(), group.routine(), nodes.leader(to), epoch, data);
  }
  for (int i = 1; i < nodes.count(); ++i) {
    const int from = nodes.behind(i);
    const EagerMessage message = await_eager(group.team(), group.routine(), nodes.leader(from), epoch,
                                             blocks.node_block_bytes(from, nodes.mine));
    blocks.unpack(from, message.data());
  }
}

}  // namespace shmemx::coll
