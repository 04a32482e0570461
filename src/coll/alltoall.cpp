// alltoall and alltoalls over several nodes. Blocks for node peers are stored into their dest. Short blocks for other
// nodes go in bundles: a leader sends all that its node has for another one in one message. Over many nodes the leaders
// stand on a mesh, and bundles that go to one column travel together along the row first, those for one node together
// along the column then. Long blocks go straight from PE to PE.
#include <memory>
#include <vector>

#include "coll/eager.hpp"
#include "coll/leaders.hpp"
#include "coll/member_access.hpp"
#include "coll/mesh.hpp"
#include "coll/remote.hpp"
#include "coll/select.hpp"

namespace shmemx::coll {
namespace {

class Exchange {
 public:
  // `shape`: of one block, in dest and source.
  Exchange(TeamGroup& group, Symmetric dest, Symmetric source, const rma::Strided& shape)
      : group_(group),
        team_(group.team()),
        nodes_(nodes_of(team_)),
        dest_(dest.pe0),
        source_(source.pe0),
        shape_(shape),
        dest_block_(shape.block_count * shape.dest_step),
        source_block_(shape.block_count * shape.source_step),
        bytes_(shape.block_count * shape.block_bytes) {}

  void run() {
    if (select::exchange_by_leaders(nodes_, bytes_)) return by_leaders();
    by_all();
  }

 private:
  std::byte* dest_of(int writer) const { return dest_ + static_cast<std::size_t>(writer) * dest_block_; }
  const std::byte* source_for(int reader) const { return source_ + static_cast<std::size_t>(reader) * source_block_; }

  void by_all() {
    const std::uint64_t epoch = ++team_.epoch;
    const int n = team_.size();
    for (int i = 1; i <= n; ++i) send_block((team_.me() + i) % n, epoch);
    for (int i = 1; i < n; ++i) {
      const int pe = (team_.me() + n - i) % n;
      if (!context::is_mapped(team_.route, pe)) await_flag(team_, group_.routine(), pe, epoch);
    }
    sync_node(team_, group_.routine());
  }

  void send_block(int pe, std::uint64_t epoch) {
    const bool mapped = context::is_mapped(team_.route, pe);
    if (!mapped && shape_.block_count == 1)
      return put_with_flag(group_, pe, dest_of(team_.me()), {source_for(pe), bytes_}, epoch);
    if (!mapped) return put_strided_with_flag(group_, pe, dest_of(team_.me()), source_for(pe), shape_, epoch);
    MemberAccess{team_.route, group_.routine()}.put_strided(pe, dest_of(team_.me()), source_for(pe), shape_);
  }

  void by_leaders() {
    const MemberAccess members{team_.route, group_.routine()};
    for (const int peer : nodes_.here()) members.put_strided(peer, dest_of(team_.me()), source_for(peer), shape_);
    const std::uint64_t epoch = team_.epoch + 1;
    team_.epoch += 2;
    if (!gather_at_leader(team_, group_.routine(), epoch)) return;
    if (select::exchange_on_mesh(nodes_)) {
      exchange_on_mesh(epoch);
    } else {
      exchange_flat(epoch);
    }
    release_node(team_, group_.routine(), epoch);
  }

  std::size_t node_block_bytes(int from, int to) const {
    return static_cast<std::size_t>(nodes_.size_of(from)) * static_cast<std::size_t>(nodes_.size_of(to)) * bytes_;
  }

  // All blocks of this node for another one.
  void pack(int node, std::byte* at) const {
    const rma::Strided packing{shape_.block_bytes, shape_.block_count, shape_.block_bytes, shape_.source_step};
    for (const int writer : nodes_.here()) {
      for (const int reader : nodes_.on(node)) {
        rma::copy_strided(at, mapped_copy(team_.route, source_for(reader), writer), packing);
        at += bytes_;
      }
    }
  }
  void unpack(int node, const std::byte* at) const {
    const rma::Strided unpacking{shape_.block_bytes, shape_.block_count, shape_.dest_step, shape_.block_bytes};
    for (const int writer : nodes_.on(node)) {
      for (const int reader : nodes_.here()) {
        rma::copy_strided(mapped_copy(team_.route, dest_of(writer), reader), at, unpacking);
        at += bytes_;
      }
    }
  }

  void exchange_flat(std::uint64_t epoch) {
    std::vector<std::byte> data;
    for (int i = 1; i < nodes_.count(); ++i) {
      const int to = nodes_.ahead(i);
      data.resize(node_block_bytes(nodes_.mine, to));
      pack(to, data.data());
      send_eager(team_, group_.routine(), nodes_.leader(to), epoch, data);
    }
    for (int i = 1; i < nodes_.count(); ++i) {
      const int from = nodes_.behind(i);
      const EagerMessage message =
          await_eager(team_, group_.routine(), nodes_.leader(from), epoch, node_block_bytes(from, nodes_.mine));
      unpack(from, message.data());
    }
  }

  // What other nodes have sent through this one, by source; the own part is made when it is wanted.
  struct Transit {
    std::vector<EagerMessage> messages;
    std::vector<std::vector<std::size_t>> begin;  // by source, of the bundle for each destination in its message
  };

  void exchange_on_mesh(std::uint64_t epoch) {
    const Mesh mesh(nodes_.count());
    std::vector<std::byte> data;
    for (int i = 1; i < nodes_.count(); ++i) {
      const int via = nodes_.ahead(i);
      data.clear();
      for (const int to : mesh.destinations(nodes_.mine, via)) append_own(to, data);
      if (!data.empty()) send_eager(team_, group_.routine(), nodes_.leader(via), epoch, data);
    }
    const Transit transit = receive_row(mesh, epoch);
    for (int i = 1; i < nodes_.count(); ++i) {
      const int to = nodes_.ahead(i);
      data.clear();
      for (const int from : mesh.sources(nodes_.mine, to)) append_transit(transit, from, to, data);
      if (!data.empty()) send_eager(team_, group_.routine(), nodes_.leader(to), epoch + 1, data);
    }
    for (int i = 1; i < nodes_.count(); ++i) receive_column(mesh, nodes_.behind(i), epoch + 1);
  }

  void append_own(int to, std::vector<std::byte>& data) const {
    const std::size_t at = data.size();
    data.resize(at + node_block_bytes(nodes_.mine, to));
    pack(to, data.data() + at);
  }

  // Of each source on the way through this node: its message. What is for this node is done then.
  Transit receive_row(const Mesh& mesh, std::uint64_t epoch) {
    const auto n = static_cast<std::size_t>(nodes_.count());
    Transit transit{std::vector<EagerMessage>(n), std::vector<std::vector<std::size_t>>(n)};
    for (int i = 1; i < nodes_.count(); ++i) {
      const int from = nodes_.behind(i);
      auto& begin = transit.begin[static_cast<std::size_t>(from)];
      begin.assign(n, 0);
      std::size_t bytes = 0;
      for (const int to : mesh.destinations(from, nodes_.mine)) {
        begin[static_cast<std::size_t>(to)] = bytes;
        bytes += node_block_bytes(from, to);
      }
      if (bytes == 0) continue;
      EagerMessage& message = transit.messages[static_cast<std::size_t>(from)];
      message = await_eager(team_, group_.routine(), nodes_.leader(from), epoch, bytes);
      if (mesh.via(from, nodes_.mine) == nodes_.mine)
        unpack(from, message.data() + begin[static_cast<std::size_t>(nodes_.mine)]);
    }
    return transit;
  }

  void append_transit(const Transit& transit, int from, int to, std::vector<std::byte>& data) const {
    if (from == nodes_.mine) return append_own(to, data);
    const auto source = static_cast<std::size_t>(from);
    const std::byte* const block =
        transit.messages[source].data() + transit.begin[source][static_cast<std::size_t>(to)];
    data.insert(data.end(), block, block + node_block_bytes(from, to));
  }

  // The second half of the way of what is for this node.
  void receive_column(const Mesh& mesh, int via, std::uint64_t epoch) {
    const std::vector<int> sources = mesh.sources(via, nodes_.mine);
    std::size_t bytes = 0;
    for (const int from : sources) bytes += node_block_bytes(from, nodes_.mine);
    if (bytes == 0) return;
    const EagerMessage message = await_eager(team_, group_.routine(), nodes_.leader(via), epoch, bytes);
    const std::byte* at = message.data();
    for (const int from : sources) {
      unpack(from, at);
      at += node_block_bytes(from, nodes_.mine);
    }
  }

  TeamGroup& group_;
  Team& team_;
  const TeamNodes& nodes_;
  std::byte* dest_;
  const std::byte* source_;
  rma::Strided shape_;
  std::size_t dest_block_;
  std::size_t source_block_;
  std::size_t bytes_;
};

}  // namespace

void alltoall_remote(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t bytes) noexcept {
  alltoalls_remote(group, dest, source, {bytes, bytes == 0 ? 0U : 1U, bytes, bytes});
}

void alltoalls_remote(TeamGroup& group, Symmetric dest, Symmetric source, const rma::Strided& shape) noexcept {
  if (shape.block_count == 0 || shape.block_bytes == 0) return group.sync();
  Exchange(group, dest, source, shape).run();
}

}  // namespace shmemx::coll
