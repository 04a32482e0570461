// The k-prefix exchange of the paper on message-driven programs: nodes in groups of equal size. Contributions go round
// a ring from each node to that of the next group in the same place; whoever receives one passes it on within its
// group. Few messages leave a group. Arithmetic only.
#pragma once

#include <algorithm>

namespace shmemx::coll {

class PrefixGroups {
 public:
  // The largest groups of at most `wanted` nodes that divide them.
  PrefixGroups(int nodes, int wanted) noexcept : nodes_(nodes), size_(std::clamp(wanted, 1, nodes)) {
    while (nodes_ % size_ != 0) --size_;
  }

  int size() const noexcept { return size_; }
  // In each round a node passes on one contribution within its group, and in all but the last one along the ring.
  int rounds() const noexcept { return nodes_ / size_; }
  // Whose contribution `node` passes on in `round`, from 0 on.
  int passed_on(int node, int round) const noexcept { return around(node, -round * size_); }
  int next(int node) const noexcept { return around(node, size_); }
  int previous(int node) const noexcept { return around(node, -size_); }
  // To and from whom `node` sends within its group in step i, from 1 to size() - 1. The same node where it can be.
  int target(int node, int i) const noexcept { return is_power_of_two() ? flipped(node, i) : within(node, i); }
  int source(int node, int i) const noexcept { return is_power_of_two() ? flipped(node, i) : within(node, size_ - i); }

 private:
  bool is_power_of_two() const noexcept { return (size_ & (size_ - 1)) == 0; }
  int around(int node, int distance) const noexcept { return (node + distance + nodes_) % nodes_; }
  int flipped(int node, int i) const noexcept { return node - node % size_ + (node % size_ ^ i); }
  int within(int node, int i) const noexcept { return node - node % size_ + (node % size_ + i) % size_; }

  int nodes_;
  int size_;
};

}  // namespace shmemx::coll
