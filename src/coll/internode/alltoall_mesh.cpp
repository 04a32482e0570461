#include <vector>

#include "coll/internode/alltoall_leaders.hpp"
#include "coll/internode/mesh.hpp"

namespace shmemx::coll {
namespace {

class MeshExchange {
 public:
  MeshExchange(const NodeBlocks& blocks, FirstRound& first, FirstRound& second)
      : blocks_(blocks), nodes_(blocks.nodes()), mesh_(nodes_.count()), first_(first), second_(second) {}

  bool run() {
    if (!first_.gather([&] { pack_first_hop(); }, [&] { send_first_hop(); })) return false;
    receive_first_hop();
    first_.await_prepared();
    send_second_hop();
    for (int i = 1; i < nodes_.count(); ++i) receive_second_hop(nodes_.behind(i));
    return true;
  }

 private:
  // What a node sent to this one in the first hop, and where the block for each destination begins in it.
  struct Transit {
    EagerMessage message;
    std::vector<std::size_t> begin;  // by destination
  };

  static void send(FirstRound& round, int node, const std::vector<std::byte>& data) {
    if (!data.empty()) round.send(node, data);
  }

  void pack_first_hop() {
    first_hop_.resize(static_cast<std::size_t>(nodes_.count()));
    for (int i = 1; i < nodes_.count(); ++i) {
      const int via = nodes_.ahead(i);
      for (const int to : mesh_.destinations(nodes_.mine, via))
        append_own(to, first_hop_[static_cast<std::size_t>(via)]);
    }
  }
  void send_first_hop() {
    for (int i = 1; i < nodes_.count(); ++i)
      send(first_, nodes_.ahead(i), first_hop_[static_cast<std::size_t>(nodes_.ahead(i))]);
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
      transit.message = first_.receive(from, bytes);
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
      send(second_, to, data);
    }
  }

  void receive_second_hop(int via) {
    const std::vector<int> sources = mesh_.sources(via, nodes_.mine);
    std::size_t bytes = 0;
    for (const int from : sources) bytes += blocks_.node_block_bytes(from, nodes_.mine);
    if (bytes == 0) return;
    const EagerMessage message = second_.receive(via, bytes);
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

  const NodeBlocks& blocks_;
  const TeamNodes& nodes_;
  Mesh mesh_;
  FirstRound& first_;
  FirstRound& second_;
  std::vector<std::vector<std::byte>> first_hop_;  // by the node that they go to, on the one that sends
  std::vector<Transit> transit_;                   // by source
};

}  // namespace

bool exchange_on_mesh(const NodeBlocks& blocks, FirstRound& round, FirstRound& second) {
  return MeshExchange(blocks, round, second).run();
}

}  // namespace shmemx::coll
