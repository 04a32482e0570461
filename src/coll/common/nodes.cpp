#include "coll/common/nodes.hpp"

#include <algorithm>
#include <iterator>
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

// Calls use(pe, key) for the real members, in ascending order. Checks once for those in a row that share a node.
template <class Use>
void for_each_real(const Keys& keys, const Use& use) {
  const bool checks = context::some_are_claimed();
  int last = -1;
  bool is_real = true;
  for (int pe = 0; pe < keys.size(); ++pe) {
    const int key = keys.of(pe);
    if (checks && (pe == 0 || key != last)) is_real = keys.is_real(pe);
    last = key;
    if (is_real) use(pe, key);
  }
}

bool all_are_real(const Keys& keys) {
  if (!context::some_are_claimed()) return true;
  int n_real = 0;
  for_each_real(keys, [&](int, int) { ++n_real; });
  return n_real == keys.size();
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

// The nodes by their keys, and how many members each has, for members in any order.
class Counted {
 public:
  // The next real member is `pe`.
  void add(int pe, int key) {
    if (nodes_.empty() || key != nodes_[last_].key) last_ = find(pe, key);
    nodes_[last_].n_members += 1;
    in_order_ = in_order_ && last_ + 1 == nodes_.size();
  }
  void fill(TeamNodes& nodes) const {
    nodes.begin.assign(1, 0);
    for (const Node& node : nodes_) {
      nodes.begin.push_back(nodes.begin.back() + node.n_members);
      nodes.leaders.push_back(node.leader);
      nodes.numbers.push_back({node.key, static_cast<int>(nodes.numbers.size())});
    }
    std::sort(nodes.numbers.begin(), nodes.numbers.end(), before);
    nodes.in_order = in_order_;
  }

 private:
  struct Node {
    int key;
    int leader;
    int n_members;
  };
  static bool before(const TeamNodes::Numbered& a, const TeamNodes::Numbered& b) { return a.key < b.key; }
  std::size_t find(int pe, int key) {
    const auto [at, is_new] = number_.try_emplace(key, nodes_.size());
    if (is_new) nodes_.push_back({key, pe, 0});
    return at->second;
  }

  std::unordered_map<int, std::size_t> number_;
  std::vector<Node> nodes_;  // in the order of their lowest members
  std::size_t last_ = 0;
  bool in_order_ = true;
};

void fill(TeamNodes& nodes, const context::Context& route, int me) {
  const Keys keys(route);
  if (all_are_real(keys) && (fill_in_order(nodes, keys) || fill_in_turn(nodes, keys))) return;
  nodes.route = &route;
  Counted counted;
  for_each_real(keys, [&](int pe, int key) {
    counted.add(pe, key);
    if (key == keys.of(me)) nodes.own.push_back(pe);
  });
  counted.fill(nodes);
  nodes.own.shrink_to_fit();
}

}  // namespace

int TeamNodes::look_up(int pe) const noexcept {
  const auto at = std::lower_bound(numbers.begin(), numbers.end(), Keys(*route).of(pe),
                                   [](const Numbered& node, int key) { return node.key < key; });
  return at->number;
}

void TeamNodes::list_members() const noexcept {
  std::vector<int> next(begin.begin(), std::prev(begin.end()));
  members.resize(n_members());
  for_each_real(Keys(*route), [&](int pe, int) {
    members[static_cast<std::size_t>(next[static_cast<std::size_t>(look_up(pe))]++)] = pe;
  });
}

TeamNodes* make_nodes(const context::Context& route, int me) {
  auto* const made = new TeamNodes;
  fill(*made, route, me);
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
