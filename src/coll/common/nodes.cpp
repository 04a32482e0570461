#include "coll/common/nodes.hpp"

#include <algorithm>
#include <unordered_map>

namespace shmemx::coll {
namespace {

// Returns what tells nodes apart. If not even node peers are mapped, each PE is a node of its own.
int node_key(int world_pe) { return context::node_is_mapped() ? context::node_of(world_pe) : world_pe; }

// Appends the node of each member to `node`; returns the number of nodes.
int number_nodes(const Team& team, std::vector<int>& node) {
  std::unordered_map<int, int> numbers;
  for (int pe = 0; pe < team.size(); ++pe) {
    const int next = static_cast<int>(numbers.size());
    node.push_back(numbers.try_emplace(node_key(context::world_pe(team.route, pe)), next).first->second);
  }
  return static_cast<int>(numbers.size());
}

TeamNodes* make_nodes(const Team& team) {
  auto* const made = new TeamNodes;
  std::vector<int> node;
  const int count = number_nodes(team, node);
  made->begin.assign(static_cast<std::size_t>(count) + 1, 0);
  for (const int of_member : node) ++made->begin[static_cast<std::size_t>(of_member) + 1];
  made->min_size = *std::min_element(made->begin.begin() + 1, made->begin.end());
  made->max_size = *std::max_element(made->begin.begin() + 1, made->begin.end());
  for (std::size_t i = 1; i < made->begin.size(); ++i) made->begin[i] += made->begin[i - 1];
  std::vector<int> next(made->begin.begin(), made->begin.end() - 1);
  made->members.resize(node.size());
  made->position.resize(node.size());
  for (std::size_t pe = 0; pe < node.size(); ++pe) {
    const int at = next[static_cast<std::size_t>(node[pe])]++;
    made->members[static_cast<std::size_t>(at)] = static_cast<int>(pe);
    made->position[pe] = at;
  }
  made->in_order = std::is_sorted(made->members.begin(), made->members.end());
  made->mine = node[static_cast<std::size_t>(team.me())];
  made->index = made->position[static_cast<std::size_t>(team.me())] - made->begin[static_cast<std::size_t>(made->mine)];
  return made;
}

}  // namespace

const TeamNodes& nodes_of(Team& team) noexcept {
  if (team.nodes == nullptr) team.nodes = make_nodes(team);
  return *team.nodes;
}

void forget_nodes(Team& team) noexcept {
  delete team.nodes;
  team.nodes = nullptr;
}

}  // namespace shmemx::coll
