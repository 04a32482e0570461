// Numbers of PEs in the world, in a team and on a node: three types that do not convert into each other.
#pragma once

#include <cstdint>

namespace shmemx {

struct Pe {
  int value;
  friend bool operator==(Pe, Pe) = default;
};

struct TeamPe {
  int value;
  friend bool operator==(TeamPe, TeamPe) = default;
};

// The place of a PE among the PEs of its node, in the order of their world numbers. What they share is laid out by it.
struct NodeIndex {
  int value;
  friend bool operator==(NodeIndex, NodeIndex) = default;
};

// Where a PE of the job is. A node has one table of all PEs, in shared memory.
struct PeLocation {
  std::uint32_t node;   // of the job
  std::uint32_t index;  // its NodeIndex there
};
static_assert(sizeof(PeLocation) == 8);

// Translates world numbers of this node's PEs into their places on it.
class NodePes {
 public:
  constexpr NodePes() = default;  // all PEs are on one node
  // The PEs of the node have the numbers from `first` on.
  explicit constexpr NodePes(Pe first) : first_(first.value) {}
  // They have any numbers. `locations`: by world PE.
  explicit constexpr NodePes(const PeLocation* locations) : locations_(locations) {}

  constexpr NodeIndex index_of(Pe pe) const noexcept {
    return {locations_ == nullptr ? pe.value - first_ : static_cast<int>(locations_[pe.value].index)};
  }

 private:
  const PeLocation* locations_ = nullptr;
  int first_ = 0;
};

}  // namespace shmemx
