#include "coll/common/nodes.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace shmemx::coll {
namespace {

// What tells the nodes of members apart. If not even node peers are addressed, each PE is a node of its own.
class Keys {
 public:
  explicit Keys(const context::Context& route) : route_(route) {}
  int size() const { return static_cast<int>(route_.n_pes); }
  int of(int pe) const {
    const int world_pe = context::world_pe(route_, pe);
    return context::node_is_mapped() && !route_.by_messages ? context::node_of(world_pe) : world_pe;
  }
  bool is_real(int pe) const { return context::is_real(context::world_pe(route_, pe)); }

 private:
  const context::Context& route_;
};

// Returns the real members of a team that has others, too; nothing if it has none.
std::vector<int> real_members(const Keys& keys) {
  std::vector<int> members;
  if (!context::some_are_claimed()) return members;
  int last = -1;
  bool is_real = false;
  for (int pe = 0; pe < keys.size(); ++pe) {
    if (const int key = keys.of(pe); pe == 0 || key != last) {
      is_real = keys.is_real(pe);
      last = key;
    }
    if (is_real) members.push_back(pe);
  }
  if (members.size() == static_cast<std::size_t>(keys.size())) members.clear();
  return members;
}

// Fills `begin` if the members run node by node.
bool fill_in_order(TeamNodes& nodes, const Keys& keys) {
  std::unordered_set<int> seen;
  nodes.begin.clear();
  int last = -1;
  for (int pe = 0; pe < keys.size(); ++pe) {
    const int key = keys.of(pe);
    if (pe > 0 && key == last) continue;
    if (!seen.insert(key).second) return false;
    nodes.begin.push_back(pe);
    last = key;
  }
  nodes.begin.push_back(keys.size());
  return true;
}

// Fills `begin` if the members go round the nodes.
bool fill_in_turn(TeamNodes& nodes, const Keys& keys) {
  std::unordered_set<int> seen;
  int count = 0;
  while (count < keys.size() && seen.insert(keys.of(count)).second) ++count;
  for (int pe = count; pe < keys.size(); ++pe) {
    if (keys.of(pe) != keys.of(pe - count)) return false;
  }
  nodes.begin.assign(1, 0);
  for (int node = 0; node < count; ++node)
    nodes.begin.push_back(nodes.begin.back() + (keys.size() - node + count - 1) / count);
  nodes.in_turn = true;
  nodes.in_order = false;
  return true;
}

// The same with tables, for `members` in any order.
void fill_tables(TeamNodes& nodes, const Keys& keys, const std::vector<int>& members) {
  std::unordered_map<int, int> numbers;
  std::vector<int> node;
  for (const int pe : members) {
    const int next = static_cast<int>(numbers.size());
    node.push_back(numbers.try_emplace(keys.of(pe), next).first->second);
  }
  nodes.begin.assign(numbers.size() + 1, 0);
  for (const int of_member : node) ++nodes.begin[static_cast<std::size_t>(of_member) + 1];
  for (std::size_t i = 1; i < nodes.begin.size(); ++i) nodes.begin[i] += nodes.begin[i - 1];
  std::vector<int> next(nodes.begin.begin(), nodes.begin.end() - 1);
  nodes.members.resize(members.size());
  const bool all = members.size() == static_cast<std::size_t>(keys.size());
  nodes.position.resize(all ? members.size() : 0);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const int at = next[static_cast<std::size_t>(node[i])]++;
    nodes.members[static_cast<std::size_t>(at)] = members[i];
    if (all) nodes.position[static_cast<std::size_t>(members[i])] = at;
  }
  nodes.in_order = std::is_sorted(nodes.members.begin(), nodes.members.end());
}

void fill(TeamNodes& nodes, const Keys& keys) {
  std::vector<int> members = real_members(keys);
  if (members.empty()) {
    if (fill_in_order(nodes, keys) || fill_in_turn(nodes, keys)) return;
    for (int pe = 0; pe < keys.size(); ++pe) members.push_back(pe);
  }
  fill_tables(nodes, keys, members);
}

}  // namespace

TeamNodes* make_nodes(const context::Context& route, int me) {
  auto* const made = new TeamNodes;
  fill(*made, Keys(route));
  made->mine = made->node_of(me);
  const NodeMembers here = made->here();
  while (here[static_cast<std::size_t>(made->index)] != me) ++made->index;
  made->min_size = made->max_size = made->size_of(0);
  for (int node = 1; node < made->count(); ++node) {
    made->min_size = std::min(made->min_size, made->size_of(node));
    made->max_size = std::max(made->max_size, made->size_of(node));
  }
  return made;
}

const TeamNodes& nodes_of(Team& team) noexcept {
  if (team.nodes == nullptr) team.nodes = make_nodes(team.route, team.me());
  return *team.nodes;
}

void forget_nodes(Team& team) noexcept {
  delete team.nodes;
  team.nodes = nullptr;
}

}  // namespace shmemx::coll
