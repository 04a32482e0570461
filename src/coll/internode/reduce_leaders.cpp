// Short reductions: the last member to arrive on a node, or its leader, combines the elements of the node and sends
// them; the leaders combine those of all nodes, and each stores the result for its node. Few nodes: each sends to all
// others. Many: recursive doubling, in which the partial result of lower nodes is always the left operand, so that all
// leaders compute the same tree.
#include <bit>
#include <vector>

#include "base/bulk_copy.hpp"
#include "base/recycled_memory.hpp"
#include "coll/common/select.hpp"
#include "coll/internode/first_round.hpp"
#include "coll/internode/reduce.hpp"

namespace shmemx::coll {
namespace {

class LeaderReduction {
 public:
  // `part`: the partial result of this node.
  LeaderReduction(FirstRound& round, const Combine& combine, std::size_t nelems, const std::byte* part,
                  const char* advice)
      : round_(round),
        nodes_(round.nodes()),
        advice_(advice),
        combine_(combine),
        nelems_(nelems),
        bytes_(nelems * combine.element_bytes),
        part_(part) {}

  // Sends the partial result of this node to those that need it before this node needs anything of theirs.
  void send_first() {
    if (nodes_.count() == 1) return;
    if (leaders_exchange_directly(nodes_)) {
      for (int i = 1; i < nodes_.count(); ++i) send(nodes_.ahead(i), part_);
    } else if (is_acted_for()) {
      send(nodes_.mine - 1, part_);
    } else if (!acts_for_upper()) {
      send(node_at(place() ^ 1), part_);
    }
  }

  // On the leader. Stores the result of all nodes into `own`. Where that is another place than the partial result, the
  // latter may still be on its way out.
  void finish(std::byte* own) {
    if (nodes_.count() == 1) return begin_with_part(own);
    if (leaders_exchange_directly(nodes_)) return exchange_directly(own);
    recursive_doubling(own);
  }

 private:
  void send(int node, const std::byte* data) { round_.send(node, {data, bytes_}); }
  EagerMessage receive(int node) { return round_.receive(node, bytes_, advice_); }
  // Called when this node has prepared its part.
  void begin_with_part(std::byte* own) {
    if (part_ != own) copy_block(own, part_, bytes_);
    part_ = own;
  }

  void exchange_directly(std::byte* own) {
    std::vector<EagerMessage> messages(static_cast<std::size_t>(nodes_.count()));
    for (int i = 1; i < nodes_.count(); ++i) {
      const int node = nodes_.ahead(i);
      messages[static_cast<std::size_t>(node)] = receive(node);
    }
    begin_with_part(own);
    const auto of = [&](int node) {
      return node == nodes_.mine ? own : messages[static_cast<std::size_t>(node)].data();
    };
    for (int node = 1; node < nodes_.count(); ++node) combine_.accumulate(of(0), of(node), nelems_);
    if (nodes_.mine != 0) copy_block(own, of(0), bytes_);
  }

  // Receives the partial result of `node` and combines it with the own one, as its left operand if it is from below.
  void combine_with(int node, bool from_below, std::byte* own) {
    const EagerMessage message = receive(node);
    begin_with_part(own);
    if (!from_below) return combine_.accumulate(own, message.data(), nelems_);
    combine_.accumulate(message.data(), own, nelems_);
    copy_block(own, message.data(), bytes_);
  }

  // If the number of nodes is no power of two, the first ones pair up: the lower node of a pair acts for the upper one.
  int power() const { return static_cast<int>(std::bit_floor(static_cast<unsigned>(nodes_.count()))); }
  int pairs() const { return nodes_.count() - power(); }
  bool is_paired() const { return nodes_.mine < 2 * pairs(); }
  bool is_acted_for() const { return is_paired() && nodes_.mine % 2 == 1; }
  bool acts_for_upper() const { return is_paired() && nodes_.mine % 2 == 0; }
  // Those that act have places, which count from 0.
  int place() const { return is_paired() ? nodes_.mine / 2 : nodes_.mine - pairs(); }
  int node_at(int at) const { return at < pairs() ? 2 * at : at + pairs(); }

  void recursive_doubling(std::byte* own) {
    if (is_acted_for()) return let_lower_act(own);
    if (acts_for_upper()) combine_with(nodes_.mine + 1, false, own);
    for (int distance = 1; distance < power(); distance *= 2) {
      const int other = place() ^ distance;
      if (distance != 1 || acts_for_upper()) send(node_at(other), own);
      combine_with(node_at(other), other < place(), own);
    }
    if (acts_for_upper()) send(nodes_.mine + 1, own);
  }

  void let_lower_act(std::byte* own) {
    const EagerMessage result = receive(nodes_.mine - 1);
    copy_block(own, result.data(), bytes_);
  }

  FirstRound& round_;
  const TeamNodes& nodes_;
  const char* advice_;
  const Combine& combine_;
  std::size_t nelems_;
  std::size_t bytes_;
  const std::byte* part_;
};

// Where the partial result of a node is computed: if the last member to arrive does that, in memory of the leader in
// which nothing else lies while all members are in one collective.
constexpr std::size_t kNodeResultBytes = 2 * windows::kScratchBytes;

}  // namespace

void combine_among_leaders(TeamGroup& group, std::byte* own, std::size_t nelems, const Combine& combine,
                           std::uint64_t epoch) noexcept {
  FirstRound round(group.team(), group.routine(), epoch, FirstRound::By::leader);
  LeaderReduction reduction(round, combine, nelems, own, group.advice());
  reduction.send_first();
  reduction.finish(own);
}

void reduce_through_leaders(TeamGroup& group, std::byte* dest, const Part& source, const Combine& combine) noexcept {
  Team& team = group.team();
  const std::size_t bytes = source.nelems * combine.element_bytes;
  const TeamNodes& nodes = nodes_of(team);
  const bool by_last = bytes <= kNodeResultBytes && nodes.count() > 1;
  FirstRound round(team, group.routine(), ++team.epoch, by_last ? FirstRound::By::last_member : FirstRound::By::leader);
  alignas(kCacheLine) std::byte small[kReduceStackBytes];
  const RecycledMemory large = nodes.leads() && bytes > kReduceStackBytes ? take_memory(bytes) : nullptr;
  std::byte* const result = large != nullptr ? large.get() : small;
  std::byte* const part = round.last_member_sends(nodes.mine) ? team.scratch(nodes.leader(nodes.mine), 0) : result;
  LeaderReduction reduction(round, combine, source.nelems, part, group.advice());
  if (!round.gather([&] { combine_node(team, source, combine, part); }, [&] { reduction.send_first(); })) return;
  reduction.finish(result);
  store_on_node(team, dest, result, bytes);
  release_node(team, group.routine(), round.epoch());
}

}  // namespace shmemx::coll
