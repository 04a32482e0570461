#include "coll/common/nodes.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <memory>
#include <random>
#include <vector>

BOOST_AUTO_TEST_SUITE(coll_nodes)

using namespace shmemx;
using coll::TeamNodes;

namespace {

// While it lives the job has these nodes, by PE.
class Job {
 public:
  explicit Job(const std::vector<int>& node_of) : before_(context::places), were_mapped_(context::all_mapped) {
    std::map<int, std::uint32_t> size;
    for (const int node : node_of) locations_.push_back({static_cast<std::uint32_t>(node), size[node]++});
    context::places.location = locations_.data();
    context::places.node_is_mapped = true;
    context::all_mapped = false;
  }
  ~Job() {
    context::places = before_;
    context::all_mapped = were_mapped_;
  }

 private:
  context::Places before_;
  bool were_mapped_;
  std::vector<PeLocation> locations_;
};

context::Context route_to(const team::PeSet& set) {
  context::Context route{};
  route.set = set;
  route.n_pes = static_cast<std::uint32_t>(set.size());
  return route;
}

std::size_t bytes_of(const TeamNodes& nodes) {
  return (nodes.begin.capacity() + nodes.leaders.capacity() + nodes.own.capacity() + nodes.members.capacity()) *
             sizeof(int) +
         nodes.numbers.capacity() * sizeof(TeamNodes::Numbered);
}

// Members 0 and 2 on node 0, member 1 on node 1, members 3 and 4 on node 2; this PE is member 1.
struct ThreeNodes {
  const Job job{{0, 1, 0, 2, 2}};
  const context::Context route = route_to(team::PeSet(Pe{0}, 1, 5));
  const std::unique_ptr<const TeamNodes> made{coll::make_nodes(route, 1)};
  const TeamNodes& nodes = *made;
};

// Compares with lists of the members of each node, in the order of the nodes' lowest members.
void check(const TeamNodes& nodes, const std::vector<int>& node_of, const team::PeSet& set, int me) {
  std::map<int, int> number;
  std::vector<std::vector<int>> members;
  for (int pe = 0; pe < set.size(); ++pe) {
    const int node = node_of[static_cast<std::size_t>(set.world(TeamPe{pe}).value)];
    if (number.emplace(node, static_cast<int>(members.size())).second) members.emplace_back();
    members[static_cast<std::size_t>(number[node])].push_back(pe);
  }
  BOOST_REQUIRE_EQUAL(nodes.count(), static_cast<int>(members.size()));
  BOOST_CHECK_EQUAL(nodes.n_members(), static_cast<std::size_t>(set.size()));
  std::vector<int> in_turn;
  for (int node = 0; node < nodes.count(); ++node) {
    const std::vector<int>& expected = members[static_cast<std::size_t>(node)];
    const coll::NodeMembers on = nodes.on(node);
    BOOST_REQUIRE(std::vector<int>(on.begin(), on.end()) == expected);
    BOOST_CHECK_EQUAL(on.back(), expected.back());
    BOOST_CHECK_EQUAL(nodes.leader(node), expected[0]);
    for (std::size_t i = 0; i < on.size(); ++i) BOOST_REQUIRE_EQUAL(on[i], expected[i]);
    const coll::NodeMembers others = on.subspan(1);
    BOOST_REQUIRE(std::vector<int>(others.begin(), others.end()) ==
                  std::vector<int>(expected.begin() + 1, expected.end()));
    for (const int pe : expected) BOOST_REQUIRE_EQUAL(nodes.node_of(pe), node);
    in_turn.insert(in_turn.end(), expected.begin(), expected.end());
  }
  BOOST_CHECK_EQUAL(nodes.in_order, std::is_sorted(in_turn.begin(), in_turn.end()));
  BOOST_CHECK_EQUAL(nodes.here()[static_cast<std::size_t>(nodes.index)], me);
}

}  // namespace

BOOST_AUTO_TEST_CASE(placements_of_all_kinds_give_the_members_of_each_node) {
  std::mt19937 random(4);
  for (int turn = 0; turn < 300; ++turn) {
    const int n_nodes = 1 + static_cast<int>(random() % 6);
    const int n_pes = n_nodes + static_cast<int>(random() % 30);
    const int each = (n_pes + n_nodes - 1) / n_nodes;
    std::vector<int> node_of;
    for (int pe = 0; pe < n_pes; ++pe)
      node_of.push_back(turn % 3 == 0 ? pe / each : turn % 3 == 1 ? pe % n_nodes : static_cast<int>(random()) & 3);
    const Job job(node_of);
    const int stride = 1 + static_cast<int>(random() % 3);
    const int size = 1 + static_cast<int>(random() % static_cast<unsigned>((n_pes - 1) / stride + 1));
    const bool reversed = random() % 4 == 0;
    const team::PeSet set(Pe{reversed ? (size - 1) * stride : 0}, reversed ? -stride : stride, size);
    const int me = static_cast<int>(random() % static_cast<unsigned>(size));
    const context::Context route = route_to(set);
    const std::unique_ptr<const TeamNodes> nodes(coll::make_nodes(route, me));
    check(*nodes, node_of, set, me);
  }
}

BOOST_AUTO_TEST_CASE(regular_placements_take_no_memory_by_pe) {
  constexpr int kPes = (1 << 20) + 77;
  constexpr int kEach = 128;
  constexpr int kNodes = (kPes + kEach - 1) / kEach;
  for (const bool is_cyclic : {false, true}) {
    std::vector<int> node_of;
    for (int pe = 0; pe < kPes; ++pe) node_of.push_back(is_cyclic ? pe % kNodes : pe / kEach);
    const Job job(node_of);
    const context::Context route = route_to(team::PeSet(Pe{0}, 1, kPes));
    const std::unique_ptr<const TeamNodes> nodes(coll::make_nodes(route, kPes - 1));
    BOOST_CHECK_EQUAL(nodes->count(), kNodes);
    BOOST_CHECK_EQUAL(nodes->mine, is_cyclic ? (kPes - 1) % kNodes : kNodes - 1);
    BOOST_CHECK_EQUAL(nodes->leader(kNodes - 1), is_cyclic ? kNodes - 1 : (kNodes - 1) * kEach);
    BOOST_CHECK_LE(bytes_of(*nodes), 128U << 10);
  }
}

BOOST_AUTO_TEST_CASE(placements_in_no_order_take_memory_by_node_until_members_of_another_node_are_needed) {
  constexpr int kPes = 1 << 20;
  constexpr int kEach = 128;
  std::vector<int> node_of;
  for (int pe = 0; pe < kPes; ++pe) node_of.push_back(pe / kEach);
  std::shuffle(node_of.begin(), node_of.end(), std::mt19937(5));
  const Job job(node_of);
  const context::Context route = route_to(team::PeSet(Pe{0}, 1, kPes));
  const std::unique_ptr<const TeamNodes> nodes(coll::make_nodes(route, 77));
  BOOST_CHECK_EQUAL(nodes->count(), kPes / kEach);
  for (const int pe : nodes->here()) BOOST_REQUIRE_EQUAL(node_of[static_cast<std::size_t>(pe)], node_of[77]);
  BOOST_CHECK_EQUAL(nodes->here().size(), static_cast<std::size_t>(kEach));
  for (int node = 0; node < nodes->count(); ++node) BOOST_REQUIRE_EQUAL(nodes->node_of(nodes->leader(node)), node);
  BOOST_CHECK_LE(bytes_of(*nodes), 512U << 10);
  check(*nodes, node_of, team::PeSet(Pe{0}, 1, kPes), 77);
}

BOOST_AUTO_TEST_CASE(members_that_are_only_claimed_to_exist_are_left_out) {
  std::vector<int> node_of;
  for (int pe = 0; pe < 300'000; ++pe) node_of.push_back(pe / 100);
  const Job job(node_of);
  context::places.is_real = [](int pe) { return pe / 100 == 5 || pe / 100 == 2999; };
  const context::Context route = route_to(team::PeSet(Pe{0}, 50, 6000));
  const std::unique_ptr<const TeamNodes> nodes(coll::make_nodes(route, 5999));
  BOOST_CHECK_EQUAL(nodes->count(), 2);
  BOOST_CHECK_EQUAL(nodes->mine, 1);
  BOOST_CHECK_EQUAL(nodes->index, 1);
  BOOST_CHECK_EQUAL(nodes->leader(0), 10);
  BOOST_CHECK_EQUAL(nodes->leader(1), 5998);
  BOOST_CHECK_EQUAL(nodes->node_of(11), 0);
  BOOST_CHECK_EQUAL(nodes->node_of(5999), 1);
  BOOST_CHECK_LE(bytes_of(*nodes), 1024U);
}

BOOST_FIXTURE_TEST_CASE(ahead_and_behind_count_in_opposite_directions, ThreeNodes) {
  BOOST_CHECK_EQUAL(nodes.ahead(1), 2);
  BOOST_CHECK_EQUAL(nodes.ahead(2), 0);
  BOOST_CHECK_EQUAL(nodes.behind(1), 0);
  BOOST_CHECK_EQUAL(nodes.behind(2), 2);
  BOOST_CHECK_EQUAL(nodes.ahead(3), 1);
  BOOST_CHECK_EQUAL(nodes.behind(3), 1);
}

BOOST_FIXTURE_TEST_CASE(members_map_to_their_nodes_and_back, ThreeNodes) {
  BOOST_CHECK_EQUAL(nodes.count(), 3);
  for (int node = 0; node < nodes.count(); ++node) {
    for (const int pe : nodes.on(node)) BOOST_CHECK_EQUAL(nodes.node_of(pe), node);
  }
  BOOST_CHECK_EQUAL(nodes.leader(0), 0);
  BOOST_CHECK_EQUAL(nodes.leader(2), 3);
  BOOST_CHECK_EQUAL(nodes.here().size(), 1U);
}

BOOST_AUTO_TEST_SUITE_END()
