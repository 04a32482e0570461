// Scans over several nodes. Where the team's order is node by node: each leader adds up its node, the leaders tell
// those above, each computes for its members. Long ones by shares: worker j of each node handles share j, block by
// block from node to node. Where members of several nodes alternate, each leader gets all contributions.
#include <cstring>
#include <memory>
#include <vector>

#include "coll/eager.hpp"
#include "coll/leader_gather.hpp"
#include "coll/leaders.hpp"
#include "coll/reduce_nodes.hpp"
#include "coll/select.hpp"

namespace shmemx::coll {
namespace {

using Buffer = std::vector<std::byte>;

class NodeScan {
 public:
  NodeScan(TeamGroup& group, std::byte* dest, const std::byte* source, const Scan& scan)
      : group_(group),
        team_(group.team()),
        nodes_(nodes_of(team_)),
        dest_(dest),
        source_(source),
        scan_(scan),
        width_(scan.sum.element_bytes) {}

  void by_leaders(std::size_t nelems) {
    // The lower nodes wait for nobody: now and then they have to, or what they send piles up.
    constexpr std::uint32_t kScansAhead = 32;
    if (++nodes_.scans % kScansAhead == 0) group_.sync();
    const std::uint64_t epoch = ++team_.epoch;
    if (!gather_at_leader(team_, group_.routine(), epoch)) return;
    const std::size_t bytes = nelems * width_;
    Buffer below(bytes);
    if (nodes_.count() > 1) sum_below(nelems, below, epoch);
    sum_members(0, nelems, below);
    release_node(team_, group_.routine(), epoch);
  }

  void by_shares(std::size_t nelems) {
    const std::size_t block = select::kScanBlockBytes / width_;
    const Share share = share_of(nelems, nodes_.rank < nodes_.min_size ? nodes_.rank : 0, nodes_.min_size);
    const std::size_t longest = share_of(nelems, 0, nodes_.min_size).size();
    sync_node(team_, group_.routine());
    const std::uint64_t first = team_.epoch + 1;
    team_.epoch += (longest + block - 1) / block;
    std::uint64_t epoch = first;
    for (std::size_t at = share.begin; nodes_.rank < nodes_.min_size && at < share.end; at += block) {
      scan_block(at, std::min(block, share.end - at), {first, epoch++});
    }
    if (epoch != first && nodes_.mine + 1 < nodes_.count())
      await_flag(team_, group_.routine(), worker(nodes_.mine + 1), epoch - 1);  // nothing is under way any more
    sync_node(team_, group_.routine());
  }

  // Any order of members.
  void with_all(std::size_t nelems) {
    const std::size_t each = std::max<std::size_t>(select::kScanGatherBytes / nodes_.members.size(), width_);
    const std::size_t most = std::max<std::size_t>(each / width_, 1);
    for (std::size_t at = 0; at < nelems; at += most) {
      const std::uint64_t epoch = ++team_.epoch;
      if (!gather_at_leader(team_, group_.routine(), epoch)) continue;
      gather_and_sum(at, std::min(most, nelems - at), epoch);
      release_node(team_, group_.routine(), epoch);
    }
  }

 private:
  // The sums of all nodes below.
  void sum_below(std::size_t nelems, Buffer& below, std::uint64_t epoch) {
    Buffer total(below.size());
    combine_node(team_, {source_, nelems}, scan_.sum, total.data());
    if (!select::leaders_exchange_flat(nodes_)) return recursive_doubling(nelems, total, below, epoch);
    for (int node = nodes_.mine + 1; node < nodes_.count(); ++node) send(node, total, epoch);
    for (int node = 0; node < nodes_.mine; ++node) add(below, receive(node, below.size(), epoch), nelems, node == 0);
  }

  // After round k, `total` covers 2^k nodes down from the own one.
  void recursive_doubling(std::size_t nelems, Buffer& total, Buffer& below, std::uint64_t epoch) {
    bool any = false;
    for (int distance = 1; distance < nodes_.count(); distance *= 2) {
      if (nodes_.mine + distance < nodes_.count()) send(nodes_.mine + distance, total, epoch);
      if (nodes_.mine < distance) continue;
      const EagerMessage lower = receive(nodes_.mine - distance, below.size(), epoch);
      prepend(lower, total, nelems, true);
      prepend(lower, below, nelems, any);
      any = true;
    }
  }

  void send(int node, const Buffer& data, std::uint64_t epoch) {
    send_eager(team_, group_.routine(), nodes_.leader(node), epoch, data);
  }
  EagerMessage receive(int node, std::size_t bytes, std::uint64_t epoch) {
    return await_eager(team_, group_.routine(), nodes_.leader(node), epoch, bytes);
  }
  void add(Buffer& sum, const EagerMessage& next, std::size_t nelems, bool first) const {
    if (first) {
      std::memcpy(sum.data(), next.data(), sum.size());
    } else {
      scan_.sum.accumulate(sum.data(), next.data(), nelems);
    }
  }
  // upper = lower + upper, or lower where there is no upper yet.
  void prepend(const EagerMessage& lower, Buffer& upper, std::size_t nelems, bool has_upper) const {
    Buffer sum(lower.data(), lower.data() + upper.size());
    if (has_upper) scan_.sum.accumulate(sum.data(), upper.data(), nelems);
    upper.swap(sum);
  }

  // From what lies below to each member in turn. `sum` grows.
  void sum_members(std::size_t at, std::size_t nelems, Buffer& sum) const {
    Buffer own(nelems * width_);
    for (const int pe : nodes_.here()) {
      std::memcpy(own.data(), mapped_copy(team_.route, source_ + at * width_, pe), own.size());
      add_member(pe, at, own.data(), nelems, sum);
    }
  }
  void add_member(int pe, std::size_t at, const std::byte* own, std::size_t nelems, Buffer& sum) const {
    std::byte* const dest =
        context::is_mapped(team_.route, pe) ? mapped_copy(team_.route, dest_ + at * width_, pe) : nullptr;
    if (dest != nullptr && scan_.exclusive) std::memcpy(dest, sum.data(), nelems * width_);
    scan_.sum.accumulate(sum.data(), own, nelems);
    if (dest != nullptr && !scan_.exclusive) std::memcpy(dest, sum.data(), nelems * width_);
  }

  struct Epochs {
    std::uint64_t first;
    std::uint64_t now;
  };
  void scan_block(std::size_t at, std::size_t nelems, const Epochs& epochs) {
    constexpr std::uint64_t kAhead = 16;  // blocks that a node may be ahead of the next one
    Buffer sum(nelems * width_);
    if (nodes_.mine != 0) {
      const int from = worker(nodes_.mine - 1);
      const EagerMessage below = await_eager(team_, group_.routine(), from, epochs.now, sum.size());
      std::memcpy(sum.data(), below.data(), sum.size());
      set_flag(team_, group_.routine(), from, epochs.now);
    }
    if (nodes_.mine + 1 == nodes_.count()) return sum_members(at, nelems, sum);
    const int to = worker(nodes_.mine + 1);
    Buffer total(sum.size());
    combine_node(team_, {source_ + at * width_, nelems}, scan_.sum, total.data());
    Buffer above = sum;
    scan_.sum.accumulate(above.data(), total.data(), nelems);
    if (epochs.now - epochs.first >= kAhead) await_flag(team_, group_.routine(), to, epochs.now - kAhead);
    send_eager(team_, group_.routine(), to, epochs.now, above);
    sum_members(at, nelems, sum);
  }
  int worker(int node) const { return nodes_.on(node)[static_cast<std::size_t>(nodes_.rank)]; }

  void gather_and_sum(std::size_t at, std::size_t nelems, std::uint64_t epoch) {
    const std::size_t bytes = nelems * width_;
    std::vector<std::size_t> lengths;
    for (int node = 0; node < nodes_.count(); ++node)
      lengths.push_back(bytes * static_cast<std::size_t>(nodes_.size_of(node)));
    LeaderGather all(team_, group_.routine(), lengths);
    for (std::size_t i = 0; i < nodes_.here().size(); ++i) {
      std::memcpy(all.own() + i * bytes, mapped_copy(team_.route, source_ + at * width_, nodes_.here()[i]), bytes);
    }
    all.exchange(epoch);
    Buffer sum(bytes);
    std::vector<std::size_t> seen(static_cast<std::size_t>(nodes_.count()), 0);
    for (int pe = 0; pe < team_.size(); ++pe) {
      const int node = nodes_.node_of(pe);
      const std::byte* const own = all.of(node) + bytes * seen[static_cast<std::size_t>(node)]++;
      add_member(pe, at, own, nelems, sum);
    }
  }

  TeamGroup& group_;
  Team& team_;
  const TeamNodes& nodes_;
  std::byte* dest_;
  const std::byte* source_;
  Scan scan_;
  std::size_t width_;  // bytes of an element
};

}  // namespace

void scan_remote(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems, Scan scan) noexcept {
  if (nelems == 0) return group.sync();
  const TeamNodes& nodes = nodes_of(group.team());
  NodeScan work(group, dest.pe0, source.pe0, scan);
  if (!nodes.in_order) {
    work.with_all(nelems);
  } else if (select::scan_by_leaders(nelems * scan.sum.element_bytes)) {
    work.by_leaders(nelems);
  } else {
    work.by_shares(nelems);
  }
}

}  // namespace shmemx::coll
