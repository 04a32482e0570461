// Long reductions: a reduce-scatter and an allgather among PEs of equal index on their nodes. On each node as many PEs
// work as the smallest node has; worker j computes share j of the elements, with the workers j of the other nodes. A
// share is cut again, into one piece for each node: a worker combines its node's part of each piece and sends it to the
// piece's node, combines the parts that it receives for its own piece, and sends the result back. So each element
// crosses between two nodes once each way.
//
// Source and dest may be the same: a worker writes dest only where all have read already.
#include <algorithm>
#include <vector>

#include "base/bulk_copy.hpp"
#include "base/recycled_memory.hpp"
#include "coll/common/eager.hpp"
#include "coll/common/flags.hpp"
#include "coll/common/member_access.hpp"
#include "coll/common/select.hpp"
#include "coll/internode/leaders.hpp"
#include "coll/internode/reduce.hpp"

namespace shmemx::coll {
namespace {

class ShareReduction {
 public:
  ShareReduction(TeamGroup& group, std::byte* dest, const Part& source, const Combine& combine)
      : group_(group), team_(group.team()), nodes_(nodes_of(team_)), dest_(dest), source_(source), combine_(combine) {}

  void run() {
    const std::size_t at_a_time = max_piece_elements() * static_cast<std::size_t>(nodes_.min_size) * node_count();
    sync_node(team_, group_.routine());
    for (std::size_t at = 0; at < source_.nelems; at += at_a_time) {
      const std::uint64_t epoch = team_.epoch + 1;
      team_.epoch += 2;
      if (nodes_.index < nodes_.min_size) work(at, std::min(at_a_time, source_.nelems - at), epoch);
    }
    sync_node(team_, group_.routine());
  }

 private:
  std::size_t node_count() const { return static_cast<std::size_t>(nodes_.count()); }
  std::size_t max_piece_elements() const { return kReducePieceBytes / combine_.element_bytes; }
  int worker(int node) const { return nodes_.on(node)[static_cast<std::size_t>(nodes_.index)]; }

  struct Piece {
    std::size_t offset;  // bytes
    std::size_t nelems;
    std::size_t bytes;
  };
  Piece piece_of(int node, std::size_t at, std::size_t nelems) const {
    const Share share = share_of(nelems, nodes_.index, nodes_.min_size);
    const Share piece = share_of(share.size(), node, nodes_.count());
    return {(at + share.begin + piece.begin) * combine_.element_bytes, piece.size(),
            piece.size() * combine_.element_bytes};
  }

  // Returns this node's part of a piece, combined in `buffer` unless the node has only one member.
  const std::byte* partial(const Piece& piece, std::byte* buffer) {
    if (nodes_.here().size() == 1) return source_.own_copy + piece.offset;
    combine_node(team_, {source_.own_copy + piece.offset, piece.nelems}, combine_, buffer);
    return buffer;
  }

  void work(std::size_t at, std::size_t nelems, std::uint64_t epoch) {
    if (buffer_ == nullptr && nodes_.here().size() > 1) buffer_ = take_memory(kReducePieceBytes);
    const int n = nodes_.count();
    progress::LongSends sends(group_.routine());
    for (int i = 1; i < n; ++i) {
      const int node = nodes_.ahead(i);
      const Piece piece = piece_of(node, at, nelems);
      send_part(worker(node), epoch, {partial(piece, buffer_.get()), piece.bytes}, sends);
    }
    const Piece own = piece_of(nodes_.mine, at, nelems);
    combine_own(own, epoch);
    for (int i = 1; i < n; ++i) {
      put_with_flag(group_, worker(nodes_.ahead(i)), dest_ + own.offset, {dest_ + own.offset, own.bytes}, epoch + 1);
    }
    for (int i = 1; i < n; ++i) {
      const int node = nodes_.behind(i);
      const Piece piece = piece_of(node, at, nelems);
      await_flag(team_, group_.routine(), worker(node), epoch + 1);
      distribute(piece.offset, dest_ + piece.offset, piece.bytes);
    }
  }

  // A buffer is used again for the next piece; a source stays until the worker of that node has combined it.
  void send_part(int pe, std::uint64_t epoch, std::span<const std::byte> data, progress::LongSends& sends) {
    send_eager(team_, group_.routine(), pe, epoch, data, {.sends = buffer_ == nullptr ? &sends : nullptr});
  }

  // Receives the other nodes' parts of this node's piece, combines them node by node, and stores the result.
  void combine_own(const Piece& own, std::uint64_t epoch) {
    if (own.nelems == 0) return await_empty_messages(epoch);
    std::vector<EagerMessage> messages(node_count());
    std::vector<const std::byte*> parts(node_count());
    parts[static_cast<std::size_t>(nodes_.mine)] = partial(own, buffer_.get());
    for (int i = 1; i < nodes_.count(); ++i) {
      const auto node = static_cast<std::size_t>(nodes_.behind(i));
      messages[node] = await_eager(team_, group_.routine(), worker(nodes_.behind(i)), epoch, own.bytes);
      parts[node] = messages[node].data();
    }
    combine_parts(parts, own);
    distribute(own.offset, dest_ + own.offset, own.bytes);
  }

  // Block by block, so that sums in progress stay in the first-level cache. The own part may lie where the result goes:
  // a block of it has been read when the last ones are combined.
  void combine_parts(const std::vector<const std::byte*>& parts, const Piece& own) {
    alignas(kCacheLine) std::byte block[kCacheBlockBytes];
    const std::size_t most = kCacheBlockBytes / combine_.element_bytes;
    for (std::size_t at = 0; at < own.nelems; at += most) {
      const std::size_t count = std::min(most, own.nelems - at);
      const std::size_t begin = at * combine_.element_bytes;
      const std::byte* left = parts[0] + begin;
      if (parts.size() == 1) copy_block(dest_ + own.offset + begin, left, count * combine_.element_bytes);
      for (std::size_t node = 1; node < parts.size(); ++node) {
        std::byte* const into = node + 1 == parts.size() ? dest_ + own.offset + begin : block;
        combine_.apply(into, left, parts[node] + begin, count);
        left = block;
      }
    }
  }

  void await_empty_messages(std::uint64_t epoch) {
    for (int i = 1; i < nodes_.count(); ++i) await_flag(team_, group_.routine(), worker(nodes_.behind(i)), epoch);
  }

  // Stores a result into the dests of the node peers.
  void distribute(std::size_t offset, const std::byte* result, std::size_t bytes) {
    const MemberAccess members{team_.route, group_.routine()};
    for (const int pe : nodes_.here()) {
      if (pe != team_.me()) members.put(pe, dest_ + offset, result, bytes);
    }
  }

  TeamGroup& group_;
  Team& team_;
  const TeamNodes& nodes_;
  std::byte* dest_;
  const Part source_;
  const Combine combine_;
  RecycledMemory buffer_;
};

}  // namespace

void reduce_by_shares(TeamGroup& group, std::byte* dest, const Part& source, const Combine& combine) noexcept {
  ShareReduction(group, dest, source, combine).run();
}

}  // namespace shmemx::coll
