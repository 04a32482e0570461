// Long reductions: a reduce-scatter and an allgather, segment by segment, over the workers that internode/reduce_shares
// has: on each node as many as the smallest node has members. Worker j computes share j of a segment. Its four rounds:
//
//   1  members to the workers of their node: shares; a worker combines those of its node, in the order of the members
//   2  workers j of all nodes to each other: pieces of share j; the owner of a piece combines them, node by node
//   3  the owners of pieces to the other workers j: results
//   4  workers to the other members of their node: shares
//
// dest may be source: a segment of it is written from the last step of round 2 on, when all has been sent of it.
#include <algorithm>

#include "coll/background/schedule.hpp"
#include "coll/common/combine.hpp"
#include "coll/common/select.hpp"

namespace shmemx::coll::background {
namespace {

class LongReduction final : public Schedule {
 public:
  LongReduction(const Members& members, const Reduction& reduction)
      : me_(members.me),
        mine_(members.nodes->mine),
        index_(members.nodes->index),
        n_workers_(members.nodes->min_size),
        here_(members.nodes->here().begin(), members.nodes->here().end()),
        reduction_(reduction),
        element_bytes_(reduction.op.element_bytes()) {
    const TeamNodes& nodes = *members.nodes;
    const auto worker = static_cast<std::size_t>(std::min(index_, n_workers_ - 1));
    for (int node = 0; node < nodes.count(); ++node) workers_.push_back(nodes.on(node)[worker]);
    const std::size_t most = static_cast<std::size_t>(nodes.max_size) + 1;
    const std::size_t share_bytes = std::max(kBackgroundScratchBytes / most, kBackgroundPieceBytes * workers_.size());
    segment_ = std::max<std::size_t>(1, share_bytes / element_bytes_) * static_cast<std::size_t>(n_workers_);
    if (works()) reserve();
  }

  bool next(Round& out) noexcept override {
    if (begin_ * element_bytes_ >= reduction_.bytes) return false;
    const std::size_t n = std::min(segment_, reduction_.bytes / element_bytes_ - begin_);
    switch (step_) {
      case 0:
        gather_shares(out, n);
        break;
      case 1:
        combine_pieces(out, n);
        break;
      case 2:
        exchange_results(out, n);
        break;
      default:
        distribute(out, n);
    }
    if (++step_ < 4) return true;
    step_ = 0;
    begin_ += n;
    return true;
  }

 private:
  struct Range {
    std::size_t offset;  // in the buffers
    std::size_t bytes;
  };

  bool works() const { return index_ < n_workers_; }
  int n_nodes() const { return static_cast<int>(workers_.size()); }
  Range range(std::size_t begin, std::size_t end) const {
    return {(begin_ + begin) * element_bytes_, (end - begin) * element_bytes_};
  }
  Range share(int worker, std::size_t n) const {
    const Share of_worker = share_of(n, worker, n_workers_);
    return range(of_worker.begin, of_worker.end);
  }
  Range piece(int node, std::size_t n) const {
    const Share of_worker = share_of(n, index_, n_workers_);
    const Share of_node = share_of(of_worker.size(), node, n_nodes());
    return range(of_worker.begin + of_node.begin, of_worker.begin + of_node.end);
  }

  // Of a worker: one for the share of each member of this node, the first of which becomes the partial result; then one
  // for the piece of each node.
  struct Slots {
    RecycledMemory memory;
    std::size_t share_bytes = 0;
    std::size_t piece_bytes = 0;
    std::byte* pieces = nullptr;
  };
  void reserve() {
    const std::size_t most = segment_ / static_cast<std::size_t>(n_workers_) + 1;
    slots_.share_bytes = most * element_bytes_;
    slots_.piece_bytes = (most / workers_.size() + 1) * element_bytes_;
    const std::size_t shares = here_.size() > 1 ? here_.size() * slots_.share_bytes : 0;
    slots_.memory = take_memory(shares + workers_.size() * slots_.piece_bytes);
    slots_.pieces = slots_.memory.get() + shares;
  }
  std::byte* share_slot(std::size_t member) const { return slots_.memory.get() + member * slots_.share_bytes; }
  std::byte* piece_slot(int node) const { return slots_.pieces + static_cast<std::size_t>(node) * slots_.piece_bytes; }

  // Returns what this node has of a range of its share.
  const std::byte* partial(const Range& part, std::size_t n) const {
    if (here_.size() == 1) return reduction_.source + part.offset;
    return share_slot(0) + (part.offset - share(index_, n).offset);
  }

  void gather_shares(Round& round, std::size_t n) {
    for (int worker = 0; worker < n_workers_; ++worker) {
      const Range part = share(worker, n);
      const int pe = here_[static_cast<std::size_t>(worker)];
      if (pe != me_) send(round, pe, reduction_.source + part.offset, part.bytes);
    }
    if (!works() || here_.size() == 1) return;
    const Range own = share(index_, n);
    for (std::size_t i = 0; i < here_.size(); ++i) {
      if (here_[i] != me_) receive(round, here_[i], share_slot(i), own.bytes);
    }
    if (index_ == 0) round.copy(share_slot(0), reduction_.source + own.offset, own.bytes);
    for (std::size_t i = 1; i < here_.size(); ++i) {
      round.combine(share_slot(0), here_[i] == me_ ? reduction_.source + own.offset : share_slot(i), own.bytes);
    }
  }

  void combine_pieces(Round& round, std::size_t n) {
    if (!works()) return;
    const Range own = piece(mine_, n);
    const std::byte* const own_part = partial(own, n);
    if (n_nodes() == 1) return round.copy(reduction_.dest + own.offset, own_part, own.bytes);
    for (int node = 0; node < n_nodes(); ++node) {
      if (node == mine_) continue;
      const Range part = piece(node, n);
      receive(round, worker_of(node), piece_slot(node), own.bytes);
      send(round, worker_of(node), partial(part, n), part.bytes);
    }
    if (mine_ == 0) round.copy(piece_slot(0), own_part, own.bytes);
    for (int node = 1; node < n_nodes(); ++node)
      round.combine(piece_slot(0), node == mine_ ? own_part : piece_slot(node), own.bytes);
    round.copy(reduction_.dest + own.offset, piece_slot(0), own.bytes);
  }

  void exchange_results(Round& round, std::size_t n) {
    if (!works()) return;
    const Range own = piece(mine_, n);
    for (int node = 0; node < n_nodes(); ++node) {
      if (node == mine_) continue;
      const Range part = piece(node, n);
      receive(round, worker_of(node), reduction_.dest + part.offset, part.bytes);
      send(round, worker_of(node), reduction_.dest + own.offset, own.bytes);
    }
  }

  void distribute(Round& round, std::size_t n) {
    for (int worker = 0; worker < n_workers_; ++worker) {
      const int pe = here_[static_cast<std::size_t>(worker)];
      const Range part = share(worker, n);
      if (pe != me_) receive(round, pe, reduction_.dest + part.offset, part.bytes);
    }
    if (!works()) return;
    const Range own = share(index_, n);
    for (const int pe : here_) {
      if (pe != me_) send(round, pe, reduction_.dest + own.offset, own.bytes);
    }
  }

  // Shares and pieces may be empty. Those are not sent.
  static void send(Round& round, int member, const std::byte* from, std::size_t bytes) {
    if (bytes != 0) round.send(member, from, bytes);
  }
  static void receive(Round& round, int member, std::byte* to, std::size_t bytes) {
    if (bytes != 0) round.receive(member, to, bytes);
  }
  int worker_of(int node) const { return workers_[static_cast<std::size_t>(node)]; }

  const int me_;
  const int mine_;   // node
  const int index_;  // on the node
  const int n_workers_;
  const std::vector<int> here_;
  std::vector<int> workers_;  // by node: those that compute the same share as this member
  const Reduction reduction_;
  const std::size_t element_bytes_;
  std::size_t segment_ = 0;  // elements
  std::size_t begin_ = 0;    // of the segment
  int step_ = 0;
  Slots slots_;
};

}  // namespace

ScheduleOwner make_long_reduction(const Members& members, const Reduction& reduction) noexcept {
  return std::make_unique<LongReduction>(members, reduction);
}

}  // namespace shmemx::coll::background
