// Whom a member meets on the way to the leader of its node, and on the way back: its leader, or the groups of the
// combining tree.
#pragma once

#include <vector>

#include "coll/background/schedule.hpp"

namespace shmemx::coll::background {

struct Levels {
  // By level, from the lowest one on: the other members of the group that this member leads, in ascending order.
  std::vector<std::vector<int>> led;
  int parent = -1;  // leads the group above; -1: this member leads all

  // The most members that this one hears of in one group.
  std::size_t widest() const noexcept;
};

Levels levels_of(const Members& members);

}  // namespace shmemx::coll::background
