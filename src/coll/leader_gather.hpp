// Every leader gets what all leaders have: contributions of different length, which all know. Few nodes: each tells all
// others. Many: in round k each passes on what it has of the 2^k nodes from its own on, so log2(n) messages do.
#pragma once

#include <memory>
#include <vector>

#include "coll/nodes.hpp"

namespace shmemx::coll {

class LeaderGather {
 public:
  // `bytes`: of each node's contribution.
  LeaderGather(Team& team, const char* routine, const std::vector<std::size_t>& bytes);
  // To be filled before the exchange.
  std::byte* own() noexcept { return memory_.get(); }
  void exchange(std::uint64_t epoch) noexcept;
  const std::byte* of(int node) const noexcept { return memory_.get() + begin_of(distance_to(node)); }

 private:
  int distance_to(int node) const noexcept { return (node - nodes_.mine + nodes_.count()) % nodes_.count(); }
  std::size_t begin_of(int distance) const noexcept { return begin_[static_cast<std::size_t>(distance)]; }
  void send(int to_node, int count, std::uint64_t epoch) noexcept;
  void receive(int from_node, int count, std::uint64_t epoch) noexcept;

  Team& team_;
  const TeamNodes& nodes_;
  const char* routine_;
  std::vector<std::size_t> begin_;  // of the nodes behind the own one, and the end
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace shmemx::coll
