// Which members of a team share a node, that is: map each other's memory. Nodes count from 0 in the order of their
// lowest members, members of a node by their numbers in the team. All members compute the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coll/common/team.hpp"

namespace shmemx::coll {

// The members of a node: part of a table, or numbers at equal distances.
class NodeMembers {
 public:
  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = int;
    constexpr Iterator() noexcept = default;
    constexpr Iterator(const int* table, int first, int stride) noexcept
        : table_(table), first_(first), stride_(stride) {}
    constexpr int operator*() const noexcept { return table_ == nullptr ? first_ : *table_; }
    constexpr Iterator& operator++() noexcept {
      if (table_ != nullptr) ++table_;
      first_ += stride_;
      return *this;
    }
    constexpr Iterator operator++(int) noexcept {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend constexpr bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const int* table_ = nullptr;
    int first_ = 0;
    int stride_ = 1;
  };

  constexpr NodeMembers(const int* table, int first, int stride, int size) noexcept
      : table_(table), first_(first), stride_(stride), size_(size) {}

  constexpr std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
  constexpr int operator[](std::size_t i) const noexcept {
    return table_ == nullptr ? first_ + static_cast<int>(i) * stride_ : table_[i];
  }
  constexpr int back() const noexcept { return (*this)[size() - 1]; }
  constexpr NodeMembers subspan(std::size_t i) const noexcept {
    const auto skipped = static_cast<int>(i);
    return {table_ == nullptr ? nullptr : table_ + i, first_ + skipped * stride_, stride_, size_ - skipped};
  }
  constexpr Iterator begin() const noexcept { return {table_, first_, stride_}; }
  constexpr Iterator end() const noexcept {
    return {table_ == nullptr ? nullptr : table_ + size_, first_ + size_ * stride_, stride_};
  }

 private:
  const int* table_;
  int first_;
  int stride_;
  int size_;
};

// Where the members follow each other node by node, or go round the nodes, they are computed. In other placements the
// node of each PE is looked up in the arena, and only the leaders and the members of the own node are listed; those of
// all nodes are from the first call of on() for another one. Members that are only claimed to exist are
// left out.
struct TeamNodes {
  struct Numbered {
    int key;     // of the node, see nodes.cpp
    int number;  // in the team
  };

  int mine = 0;                             // this PE's node
  int index = 0;                            // this PE's place among the members of its node
  int min_size = 0;                         // members of the smallest node
  int max_size = 0;                         // members of the largest node
  bool in_order = true;                     // the team's numbers run node by node
  bool in_turn = false;                     // they go round the nodes
  mutable std::uint32_t scans = 0;          // scans by leaders so far
  std::vector<int> begin;                   // how many members the nodes before each one have, and all
  const context::Context* route = nullptr;  // the team's; null where members are computed
  std::vector<Numbered> numbers;            // by key; empty where members are computed, as are the next two
  std::vector<int> leaders;                 // by node
  std::vector<int> own;                     // the members of this PE's node
  mutable std::vector<int> members;         // node by node; empty until they are needed

  int count() const noexcept { return static_cast<int>(begin.size()) - 1; }
  std::size_t n_members() const noexcept { return static_cast<std::size_t>(begin.back()); }
  NodeMembers on(int node) const noexcept {
    const int first = begin[static_cast<std::size_t>(node)];
    if (route == nullptr) return {nullptr, in_turn ? node : first, in_turn ? count() : 1, size_of(node)};
    if (node == mine) return {own.data(), 0, 0, size_of(node)};
    if (members.empty()) list_members();
    return {members.data() + first, 0, 0, size_of(node)};
  }
  // The members of this PE's node.
  NodeMembers here() const noexcept { return on(mine); }
  int size_of(int node) const noexcept {
    return begin[static_cast<std::size_t>(node) + 1] - begin[static_cast<std::size_t>(node)];
  }
  // Requires a real PE.
  int node_of(int pe) const noexcept {
    if (in_turn) return pe % count();
    if (route != nullptr) return look_up(pe);
    return static_cast<int>(std::upper_bound(begin.begin(), begin.end(), pe) - begin.begin()) - 1;
  }
  int leader(int node) const noexcept {
    return route == nullptr ? on(node)[0] : leaders[static_cast<std::size_t>(node)];
  }
  bool leads() const noexcept { return index == 0; }
  // The nodes `distance` places after and before this PE's one, cyclically. `distance` is at most count().
  int ahead(int distance) const noexcept { return (mine + distance) % count(); }
  int behind(int distance) const noexcept { return (mine - distance + count()) % count(); }

 private:
  int look_up(int pe) const noexcept;
  void list_members() const noexcept;
};

// Makes the nodes of a team of which `me` is a member. They refer to `route`.
TeamNodes* make_nodes(const context::Context& route, int me);

// Returns the nodes of a team; makes them on first use.
const TeamNodes& nodes_of(Team& team) noexcept;
void forget_nodes(Team& team) noexcept;

}  // namespace shmemx::coll
