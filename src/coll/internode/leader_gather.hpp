// An allgather among leaders: every leader gets the contributions of all nodes, whose lengths all leaders know. Few
// nodes exchange directly. Many exchange in log2(n) rounds: in round k each passes on what it has of the 2^k nodes from
// its own one on.
#pragma once

#include <vector>

#include "base/recycled_memory.hpp"
#include "coll/internode/first_round.hpp"

namespace shmemx::coll {

class LeaderGather {
 public:
  // `bytes`: of each node's contribution.
  LeaderGather(FirstRound& round, const std::vector<std::size_t>& bytes);
  // The caller fills it before send_first(), and on the leader before pass_on().
  std::byte* own() noexcept { return memory_.get(); }
  // The three steps of the exchange; the last two on the leader. receive_first() returns when this node has prepared
  // its contribution, too.
  void send_first() noexcept;
  void receive_first() noexcept;
  void pass_on() noexcept;
  const std::byte* of(int node) const noexcept { return memory_.get() + begin_of(distance_to(node)); }

 private:
  int distance_to(int node) const noexcept { return (node - nodes_.mine + nodes_.count()) % nodes_.count(); }
  std::size_t begin_of(int distance) const noexcept { return begin_[static_cast<std::size_t>(distance)]; }
  // How many nodes this one exchanges its own contribution with in the first step.
  int first_partners() const noexcept;
  // `count` contributions, from the sender's own one on.
  void send(int to_node, int count) noexcept;
  void receive(int from_node, int count) noexcept;

  FirstRound& round_;
  const TeamNodes& nodes_;
  std::vector<std::size_t> begin_;  // of each node's contribution, by its distance ahead; and the end
  RecycledMemory memory_;
};

// The contributions of all nodes, by leaders that have gathered. `fill` writes this node's one.
template <class Fill>
LeaderGather gather_among_leaders(FirstRound& round, const std::vector<std::size_t>& bytes, const Fill& fill) {
  LeaderGather all(round, bytes);
  fill(all.own());
  all.send_first();
  all.receive_first();
  all.pass_on();
  return all;
}

}  // namespace shmemx::coll
