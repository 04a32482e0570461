#include "coll/background/levels.hpp"

#include <algorithm>

#include "coll/node/tree.hpp"

namespace shmemx::coll::background {
namespace {

Levels levels_of_tree(int n, int me) {
  Levels levels;
  int level = 0;
  for (int step = 1; step < n; step *= kTreeRadix, ++level) {
    const TreeGroup group = tree_group(n, me, step, level);
    if (group.first != me) {
      levels.parent = group.first;
      break;
    }
    std::vector<int>& others = levels.led.emplace_back();
    for (int i = 1; i < group.count; ++i) others.push_back(group.member(i));
  }
  return levels;
}

Levels levels_of_node(const TeamNodes& nodes) {
  Levels levels;
  if (!nodes.leads()) {
    levels.parent = nodes.leader(nodes.mine);
    return levels;
  }
  const NodeMembers others = nodes.here().subspan(1);
  if (others.size() != 0) levels.led.emplace_back(others.begin(), others.end());
  return levels;
}

}  // namespace

std::size_t Levels::widest() const noexcept {
  std::size_t most = 0;
  for (const std::vector<int>& others : led) most = std::max(most, others.size());
  return most;
}

Levels levels_of(const Members& members) {
  return members.by_tree ? levels_of_tree(members.size, members.me) : levels_of_node(*members.nodes);
}

}  // namespace shmemx::coll::background
