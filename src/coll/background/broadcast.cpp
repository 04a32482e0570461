// A binomial tree over the nodes, from the root's node on, and one over the members of each node. The root acts for its
// node, leaders for theirs. Long data travel in segments: a member passes one on while it receives the next.
#include <algorithm>
#include <bit>

#include "coll/background/schedule.hpp"
#include "coll/common/select.hpp"

namespace shmemx::coll::background {
namespace {

// Calls use(i) for the children of `place` among n in a binomial tree whose root is 0, those of large subtrees first.
template <class Use>
void for_each_child(int place, int n, const Use& use) {
  const auto limit = place == 0 ? std::bit_ceil(static_cast<unsigned>(n)) : static_cast<unsigned>(place & -place);
  for (unsigned distance = limit / 2; distance != 0; distance /= 2) {
    if (static_cast<long>(place) + distance < n) use(place + static_cast<int>(distance));
  }
}
constexpr int parent_of(int place) { return place & (place - 1); }

class BroadcastTree final : public Schedule {
 public:
  BroadcastTree(const Members& members, const Broadcast& broadcast) : broadcast_(broadcast) {
    const TeamNodes& nodes = *members.nodes;
    root_node_ = nodes.node_of(broadcast.root);
    is_root_ = members.me == broadcast.root;
    link_nodes(nodes, members.me);
    link_members(nodes, members.me);
  }

  bool next(Round& out) noexcept override {
    const std::size_t segments =
        std::max<std::size_t>(1, (broadcast_.bytes + kBackgroundSegmentBytes - 1) / kBackgroundSegmentBytes);
    if (is_root_) return next_of_root(out, segments);
    if (round_ == segments + (children_.empty() ? 0 : 1)) return false;
    if (round_ < segments) out.receive(parent_, broadcast_.dest + offset(round_), length(round_));
    if (round_ > 0) send(out, broadcast_.dest, round_ - 1);
    ++round_;
    return true;
  }

 private:
  std::size_t offset(std::size_t segment) const { return segment * kBackgroundSegmentBytes; }
  std::size_t length(std::size_t segment) const {
    return std::min(kBackgroundSegmentBytes, broadcast_.bytes - offset(segment));
  }

  bool next_of_root(Round& out, std::size_t segments) {
    if (round_ == segments) return false;
    send(out, broadcast_.source, round_);
    out.copy(broadcast_.dest + offset(round_), broadcast_.source + offset(round_), length(round_));
    ++round_;
    return true;
  }

  void send(Round& round, const std::byte* from, std::size_t segment) const {
    for (const int child : children_) round.send(child, from + offset(segment), length(segment));
  }

  // Who acts for a node.
  int head(const TeamNodes& nodes, int node) const { return node == root_node_ ? broadcast_.root : nodes.leader(node); }

  void link_nodes(const TeamNodes& nodes, int me) {
    if (me != head(nodes, nodes.mine)) return;
    const int n = nodes.count();
    const int place = (nodes.mine - root_node_ + n) % n;
    const auto pe_of = [&](int other) { return head(nodes, (other + root_node_) % n); };
    if (place != 0) parent_ = pe_of(parent_of(place));
    for_each_child(place, n, [&](int child) { children_.push_back(pe_of(child)); });
  }

  // The head of a node and its first member change places.
  void link_members(const TeamNodes& nodes, int me) {
    const NodeMembers here = nodes.here();
    const int first = here[0];
    const int head_of_node = head(nodes, nodes.mine);
    int head_index = 0;
    while (here[static_cast<std::size_t>(head_index)] != head_of_node) ++head_index;
    const auto pe_of = [&](int place) {
      if (place == 0) return head_of_node;
      return place == head_index ? first : here[static_cast<std::size_t>(place)];
    };
    const int place = me == head_of_node ? 0 : nodes.index == 0 ? head_index : nodes.index;
    if (place != 0) parent_ = pe_of(parent_of(place));
    for_each_child(place, static_cast<int>(here.size()), [&](int child) { children_.push_back(pe_of(child)); });
  }

  const Broadcast broadcast_;
  int root_node_ = 0;
  bool is_root_ = false;
  int parent_ = -1;
  std::vector<int> children_;
  std::size_t round_ = 0;
};

}  // namespace

ScheduleOwner make_broadcast(const Members& members, const Broadcast& broadcast) noexcept {
  return std::make_unique<BroadcastTree>(members, broadcast);
}

}  // namespace shmemx::coll::background
