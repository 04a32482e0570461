// An allgather among leaders: every leader gets the contributions of all nodes, whose lengths all leaders know. Few
// nodes exchange directly. Many exchange in log2(n) rounds: in round k each passes on what it has of the 2^k nodes from
// its own one on.
#pragma once

#include <vector>

#include "base/recycled_memory.hpp"
#include "coll/common/nodes.hpp"

namespace shmemx::coll {

class LeaderGather {
 public:
  // `bytes`: of each node's contribution.
  LeaderGather(Team& team, const char* routine, const std::vector<std::size_t>& bytes);
  // The caller fills it before the exchange.
  std::byte* own() noexcept { return memory_.get(); }
  void exchange(std::uint64_t epoch) noexcept;
  const std::byte* of(int node) const noexcept { return memory_.get() + begin_of(distance_to(node)); }

 private:
  int distance_to(int node) const noexcept { return (node - nodes_.mine + nodes_.count()) % nodes_.count(); }
  std::size_t begin_of(int distance) const noexcept { return begin_[static_cast<std::size_t>(distance)]; }
  // `count` contributions, from the sender's own one on.
  void send(int to_node, int count, std::uint64_t epoch) noexcept;
  void receive(int from_node, int count, std::uint64_t epoch) noexcept;

  Team& team_;
  const TeamNodes& nodes_;
  const char* routine_;
  std::vector<std::size_t> begin_;  // of each node's contribution, by its distance ahead; and the end
  RecycledMemory memory_;
};

}  // namespace shmemx::coll
