#include <vector>

#include "coll/common/eager.hpp"
#include "coll/internode/alltoall_leaders.hpp"
#include "coll/internode/mesh.hpp"

namespace shmemx::coll {
namespace {

class MeshExchange {
 public:
  MeshExchange(TeamGroup& group, const NodeBlocks& blocks, std::uint64_t epoch)
      : group_(group), blocks_(blocks), nodes_(blocks.nodes()), mesh_(nodes_.count()), epoch_(epoch) {}

  void run() {
    send_first_hop();
    receive_first_hop();
    send_second_hop();
    for (int i = 1; i < nodes_.count(); ++i) receive_second_hop(nodes_.behind(i));
  }

 private:
  // What a node sent to this one in the first hop, and where the block for each destination begins in it.
  struct Transit {
    EagerMessage message;
    std::vector<std::size_t> begin;  // by destination
  };

  void send(int node, const std::vector<std::byte>& data, std::uint64_t epoch) {
    if (!data.empty()) send_eager(group_.team(), group_.routine(), nodes_.leader(node), epoch, data);
  }
  EagerMessage receive(int node, std::size_t bytes, std::uint64_t epoch) {
    return await_eager(group_.team(), group_.routine(), nodes_.leader(node), epoch, bytes);
  }

  void send_first_hop() {
    std::vector<std::byte> data;
    for (int i = 1; i < nodes_.count(); ++i) {
      const int via = nodes_.ahead(i);
      data.clear();
      for (const int to : mesh_.destinations(nodes_.mine, via)) append_own(to, data);
      send(via, data, epoch_);
    }
  }

  // Blocks for this node are unpacked at once, the others wait for the second hop.
  void receive_first_hop() {
    transit_.resize(static_cast<std::size_t>(nodes_.count()));
    for (int i = 1; i < nodes_.count(); ++i) {
      const int from = nodes_.behind(i);
      Transit& transit = transit_[static_cast<std::size_t>(from)];
      transit.begin.assign(static_cast<std::size_t>(nodes_.count()), 0);
      std::size_t bytes = 0;
      for (const int to : mesh_.destinations(from, nodes_.mine)) {
        transit.begin[static_cast<std::size_t>(to)] = bytes;
        bytes += blocks_.node_block_bytes(from, to);
      }
      if (bytes == 0) continue;
      transit.message = receive(from, bytes, epoch_);
      if (mesh_.via(from, nodes_.mine) == nodes_.mine)
        blocks_.unpack(from, transit.message.data() + transit.begin[static_cast<std::size_t>(nodes_.mine)]);
    }
  }

  void send_second_hop() {
    std::vector<std::byte> data;
    for (int i = 1; i < nodes_.count(); ++i) {
      const int to = nodes_.ahead(i);
      data.clear();
      for (const int from : mesh_.sources(nodes_.mine, to)) append(from, to, data);
      send(to, data, epoch_ + 1);
    }
  }

  void receive_second_hop(int via) {
    const std::vector<int> sources = mesh_.sources(via, nodes_.mine);
    std::size_t bytes = 0;
    for (const int from : sources) bytes += blocks_.node_block_bytes(from, nodes_.mine);
    if (bytes == 0) return;
    const EagerMessage message = receive(via, bytes, epoch_ + 1);
    const std::byte* at = message.data();
    for (const int from : sources) {
      blocks_.unpack(from, at);
      at += blocks_.node_block_bytes(from, nodes_.mine);
    }
  }

  void append_own(int to, std::vector<std::byte>& data) const {
    const std::size_t at = data.size();
    data.resize(at + blocks_.node_block_bytes(nodes_.mine, to));
    blocks_.pack(to, data.data() + at);
  }
  void append(int from, int to, std::vector<std::byte>& data) const {
    if (from == nodes_.mine) return append_own(to, data);
    const Transit& transit = transit_[static_cast<std::size_t>(from)];
    const std::byte* const block = transit.message.data() + transit.begin[static_cast<std::size_t>(to)];
    data.insert(data.end(), block, block + blocks_.node_block_bytes(from, to));
  }

  TeamGroup& group_;
  const NodeBlocks& blocks_;
  const TeamNodes& nodes_;
  Mesh mesh_;
  std::uint64_t epoch_;
  std::vector<Transit> transit_;  // by source
};

}  // namespace

void exchange_on_mesh(TeamGroup& group, const NodeBlocks& blocks, std::uint64_t epoch) {
  MeshExchange(group, blocks, epoch).run();
}

}  // namespace shmemx::coll
