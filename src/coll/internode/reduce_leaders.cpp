// Short reductions: each leader combines the elements of its node, the leaders combine those among themselves, and each
// stores the result for its node. Few nodes: every leader sends to all others. Many: recursive doubling, in which the
// partial result of lower nodes is always the left operand, so that all leaders compute the same tree.
#include <bit>
#include <vector>

#include "base/bulk_copy.hpp"
#include "base/recycled_memory.hpp"
#include "coll/common/eager.hpp"
#include "coll/common/select.hpp"
#include "coll/internode/leaders.hpp"
#include "coll/internode/reduce.hpp"

namespace shmemx::coll {
namespace {

class LeaderReduction {
 public:
  LeaderReduction(TeamGroup& group, const Combine& combine, std::size_t nelems, std::uint64_t epoch)
      : team_(group.team()),
        nodes_(nodes_of(team_)),
        routine_(group.routine()),
        advice_(group.advice()),
        combine_(combine),
        nelems_(nelems),
        bytes_(nelems * combine.element_bytes),
        epoch_(epoch) {}

  // Turns the partial result of this node into the result of all nodes.
  void run(std::byte* own) {
    if (nodes_.count() == 1) return;
    if (leaders_exchange_directly(nodes_)) return exchange_directly(own);
    recursive_doubling(own);
  }

 private:
  void send(int node, const std::byte* data) {
    send_eager(team_, routine_, nodes_.leader(node), epoch_, {data, bytes_});
  }
  EagerMessage receive(int node) { return await_eager(team_, routine_, nodes_.leader(node), epoch_, bytes_, advice_); }

  void exchange_directly(std::byte* own) {
    const int n = nodes_.count();
    for (int i = 1; i < n; ++i) send(nodes_.ahead(i), own);
    std::vector<EagerMessage> messages(static_cast<std::size_t>(n));
    const auto of = [&](int node) {
      return node == nodes_.mine ? own : messages[static_cast<std::size_t>(node)].data();
    };
    for (int node = 0; node < n; ++node) {
      if (node != nodes_.mine) messages[static_cast<std::size_t>(node)] = receive(node);
      if (node != 0) combine_.accumulate(of(0), of(node), nelems_);
    }
    if (nodes_.mine != 0) copy_block(own, of(0), bytes_);
  }

  // Receives the partial result of `node` and combines it with the own one, as its left operand if it is from below.
  void combine_with(int node, bool from_below, std::byte* own) {
    const EagerMessage message = receive(node);
    if (!from_below) return combine_.accumulate(own, message.data(), nelems_);
    combine_.accumulate(message.data(), own, nelems_);
    copy_block(own, message.data(), bytes_);
  }

  // If their number is no power of two, the first nodes pair up: the lower node of a pair acts for the upper one.
  void recursive_doubling(std::byte* own) {
    const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(nodes_.count())));
    const int pairs = nodes_.count() - power;
    const int mine = nodes_.mine;
    const bool paired = mine < 2 * pairs;
    if (paired && mine % 2 == 1) return let_lower_act(own);
    if (paired) combine_with(mine + 1, false, own);
    const int place = paired ? mine / 2 : mine - pairs;
    for (int distance = 1; distance < power; distance *= 2) {
      const int other = place ^ distance;
      const int node = other < pairs ? 2 * other : other + pairs;
      send(node, own);
      combine_with(node, other < place, own);
    }
    if (paired) send(mine + 1, own);
  }

  void let_lower_act(std::byte* own) {
    send(nodes_.mine - 1, own);
    const EagerMessage result = receive(nodes_.mine - 1);
    copy_block(own, result.data(), bytes_);
  }

  Team& team_;
  const TeamNodes& nodes_;
  const char* routine_;
  const char* advice_;
  const Combine& combine_;
  std::size_t nelems_;
  std::size_t bytes_;
  std::uint64_t epoch_;
};

}  // namespace

void combine_among_leaders(TeamGroup& group, std::byte* own, std::size_t nelems, const Combine& combine,
                           std::uint64_t epoch) noexcept {
  LeaderReduction(group, combine, nelems, epoch).run(own);
}

void reduce_through_leaders(TeamGroup& group, std::byte* dest, const Part& source, const Combine& combine) noexcept {
  Team& team = group.team();
  const std::uint64_t epoch = ++team.epoch;
  if (!gather_at_leader(team, group.routine(), epoch)) return;
  alignas(kCacheLine) std::byte small[kReduceStackBytes];
  const std::size_t bytes = source.nelems * combine.element_bytes;
  const RecycledMemory large = bytes > kReduceStackBytes ? take_memory(bytes) : nullptr;
  std::byte* const result = bytes > kReduceStackBytes ? large.get() : small;
  combine_node(team, source, combine, result);
  combine_among_leaders(group, result, source.nelems, combine, epoch);
  store_on_node(team, dest, result, bytes);
  release_node(team, group.routine(), epoch);
}

}  // namespace shmemx::coll
