// Which members of a team share a node, that is: map each other's memory. Nodes count from 0 in the order of their
// lowest members, members of a node by their numbers in the team. All members compute the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "coll/common/team.hpp"

namespace shmemx::coll {

struct TeamNodes {
  int mine = 0;                     // this PE's node
  int index = 0;                    // this PE's place among the members of its node
  int min_size = 0;                 // members of the smallest node
  int max_size = 0;                 // members of the largest node
  bool in_order = true;             // the team's numbers run node by node
  mutable std::uint32_t scans = 0;  // scans by leaders so far
  std::vector<int> members;         // node by node
  std::vector<int> begin;           // where each node begins in `members`, and the end
  std::vector<int> position;        // of each member in `members`

  int count() const noexcept { return static_cast<int>(begin.size()) - 1; }
  std::span<const int> on(int node) const noexcept {
    const auto first = static_cast<std::size_t>(begin[static_cast<std::size_t>(node)]);
    return std::span(members).subspan(first, static_cast<std::size_t>(size_of(node)));
  }
  // The members of this PE's node.
  std::span<const int> here() const noexcept { return on(mine); }
  int size_of(int node) const noexcept {
    return begin[static_cast<std::size_t>(node) + 1] - begin[static_cast<std::size_t>(node)];
  }
  int node_of(int pe) const noexcept {
    const auto next = std::upper_bound(begin.begin(), begin.end(), position[static_cast<std::size_t>(pe)]);
    return static_cast<int>(next - begin.begin()) - 1;
  }
  int leader(int node) const noexcept { return on(node)[0]; }
  bool leads() const noexcept { return index == 0; }
  // The nodes `distance` places after and before this PE's one, cyclically. `distance` is at most count().
  int ahead(int distance) const noexcept { return (mine + distance) % count(); }
  int behind(int distance) const noexcept { return (mine - distance + count()) % count(); }
};

// Returns the nodes of a team; makes them on first use.
const TeamNodes& nodes_of(Team& team) noexcept;
void forget_nodes(Team& team) noexcept;

}  // namespace shmemx::coll
