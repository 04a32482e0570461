#include "tasks/multicast.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <deque>
#include <map>
#include <random>
#include <vector>

BOOST_AUTO_TEST_SUITE(tasks_multicast)

namespace {

using namespace shmemx;
using namespace shmemx::tasks;

// All messages of a multicast, delivered in the order in which they were sent.
class PlayedMulticast {
 public:
  PlayedMulticast(int n_pes, std::vector<int> nodes) : n_pes_(n_pes), nodes_(std::move(nodes)) {}

  template <class IsReady>
  void run(const team::PeSet& team, int member, const IsReady& is_ready) {
    const int origin = team.world(TeamPe{member}).value;
    received[origin] = 1;
    const MulticastPart all(team, static_cast<std::uint32_t>(member), static_cast<std::uint32_t>(team.size()));
    step_from(origin, 0, all.from(1), false, is_ready);
    while (!under_way_.empty()) {
      const Sent next = under_way_.front();
      under_way_.pop_front();
      ++received[next.pe];
      const auto part = MulticastPart::of(next.part.head(origin), n_pes_);
      BOOST_REQUIRE(part.has_value());
      step_from(next.pe, next.depth, *part, true, is_ready);
    }
  }

  std::map<int, int> received;
  int between_nodes = 0;
  int deepest = 0;

 private:
  struct Sent {
    int pe;
    int depth;
    MulticastPart part;
  };

  template <class IsReady>
  void step_from(int me, int depth, const MulticastPart& part, bool is_received, const IsReady& is_ready) {
    const auto node_of = [this](int pe) { return nodes_[static_cast<std::size_t>(pe)]; };
    const auto send = [&](int pe, const MulticastPart& theirs) {
      if (node_of(pe) != node_of(me)) ++between_nodes;
      const int reached = depth + (node_of(pe) != node_of(me) ? 1 : 0);
      deepest = std::max(deepest, reached);
      under_way_.push_back({pe, reached, theirs});
    };
    const MulticastSpread spread(me, node_of, is_ready, send);
    if (is_received) BOOST_REQUIRE(spread.holds(part));
    spread.spread(part);
  }

  int n_pes_;
  std::vector<int> nodes_;
  std::deque<Sent> under_way_;
};

std::vector<int> blocks(int n_pes, int per_node) {
  std::vector<int> nodes;
  for (int pe = 0; pe < n_pes; ++pe) nodes.push_back(pe / per_node);
  return nodes;
}

int log2_up(int n) {
  int log = 0;
  while ((1 << log) < n) ++log;
  return log;
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_member_gets_it_once_and_each_node_by_one_message) {
  std::mt19937 random(3);
  for (int n_pes = 1; n_pes <= 40; ++n_pes) {
    for (const int per_node : {1, 2, 3, 8}) {
      for (const int member : {0, n_pes / 2, n_pes - 1}) {
        PlayedMulticast played(n_pes, blocks(n_pes, per_node));
        played.run({Pe{0}, 1, n_pes}, member, [&](int) { return random() % 2 == 0; });
        BOOST_REQUIRE_EQUAL(played.received.size(), static_cast<std::size_t>(n_pes));
        for (const auto& pe : played.received) BOOST_REQUIRE_EQUAL(pe.second, 1);
        const int nodes = (n_pes + per_node - 1) / per_node;
        BOOST_REQUIRE_EQUAL(played.between_nodes, nodes - 1);
        BOOST_REQUIRE_LE(played.deepest, log2_up(nodes) + 1);
      }
    }
  }
}

// Strides, reversed teams, nodes whose PEs do not follow each other, parts of the world.
BOOST_AUTO_TEST_CASE(teams_and_nodes_of_any_kind_are_reached_once) {
  std::mt19937 random(4);
  for (int round = 0; round < 3000; ++round) {
    const int n_pes = 1 + static_cast<int>(random() % 50);
    std::vector<int> nodes(static_cast<std::size_t>(n_pes));
    const int n_nodes = 1 + static_cast<int>(random() % 9);
    for (int pe = 0; pe < n_pes; ++pe)
      nodes[static_cast<std::size_t>(pe)] = round % 2 == 0 ? pe % n_nodes : static_cast<int>(random()) % n_nodes;
    const int step = 1 + static_cast<int>(random() % 4);
    const int start = static_cast<int>(random() % static_cast<unsigned>(n_pes));
    const bool is_reversed = random() % 3 == 0;
    const int size = (is_reversed ? start : n_pes - 1 - start) / step + 1;
    const team::PeSet team(Pe{start}, is_reversed ? -step : step, size);
    PlayedMulticast played(n_pes, nodes);
    played.run(team, static_cast<int>(random() % static_cast<unsigned>(size)), [&](int) { return random() % 3 == 0; });
    BOOST_REQUIRE_EQUAL(played.received.size(), static_cast<std::size_t>(size));
    for (const auto& pe : played.received) {
      BOOST_REQUIRE_EQUAL(pe.second, 1);
      BOOST_REQUIRE(team.find(Pe{pe.first}).has_value());
    }
  }
}

// The PE that passes it on is one of the node that has received what was sent before.
BOOST_AUTO_TEST_CASE(a_pe_that_does_not_receive_passes_nothing_on_if_a_node_peer_can) {
  const auto nodes = blocks(6, 3);
  const auto node_of = [&](int pe) { return nodes[static_cast<std::size_t>(pe)]; };
  const auto is_ready = [](int pe) { return pe == 4; };
  std::map<int, std::uint32_t> sent;
  const auto send = [&](int pe, const MulticastPart& part) { sent[pe] = part.count(); };
  const MulticastPart all({Pe{0}, 1, 6}, 0, 6);
  MulticastSpread(0, node_of, is_ready, send).spread(all.from(1));
  BOOST_CHECK((sent == std::map<int, std::uint32_t>{{1, 1}, {2, 1}, {4, 3}}));
}

BOOST_AUTO_TEST_CASE(damaged_heads_are_rejected) {
  const MulticastHead good{1, 0, 2, 4, 3, 2};
  BOOST_CHECK(MulticastPart::of(good, 8).has_value());
  const auto is_rejected = [&](auto change) {
    MulticastHead head = good;
    change(head);
    return !MulticastPart::of(head, 8).has_value();
  };
  BOOST_CHECK(is_rejected([](MulticastHead& h) { h.origin = 8; }));
  BOOST_CHECK(is_rejected([](MulticastHead& h) { h.origin = -1; }));
  BOOST_CHECK(is_rejected([](MulticastHead& h) { h.first = 2; }));
  BOOST_CHECK(is_rejected([](MulticastHead& h) { h.step = -1; }));
  BOOST_CHECK(is_rejected([](MulticastHead& h) { h.step = INT32_MAX; }));
  BOOST_CHECK(is_rejected([](MulticastHead& h) { h.size = 0; }));
  BOOST_CHECK(is_rejected([](MulticastHead& h) { h.size = 0xffffffffU; }));
  BOOST_CHECK(is_rejected([](MulticastHead& h) { h.begin = 4; }));
  BOOST_CHECK(is_rejected([](MulticastHead& h) { h.count = 0; }));
  BOOST_CHECK(is_rejected([](MulticastHead& h) { h.count = 5; }));
  // Part of it is for others only.
  const auto node_of = [](int pe) { return pe / 2; };
  const auto never = [](int) { return false; };
  const auto send = [](int, const MulticastPart&) {};
  BOOST_CHECK(MulticastSpread(6, node_of, never, send).holds(*MulticastPart::of(good, 8)));
  BOOST_CHECK(!MulticastSpread(0, node_of, never, send).holds(*MulticastPart::of(good, 8)));
}

BOOST_AUTO_TEST_SUITE_END()
