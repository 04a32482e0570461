#include "bootstrap/synthetic_nodes.hpp"

#include <boost/test/unit_test.hpp>

#include "bootstrap/bootstrap.hpp"

BOOST_AUTO_TEST_SUITE(bootstrap_synthetic_nodes)

using namespace shmemx;
using bootstrap::SyntheticNodes;

namespace {

config::SyntheticWorld world_of(const char* text) {
  config::SyntheticWorld world;
  BOOST_REQUIRE(config::kind::synthetic_world::parse(text, world) == nullptr);
  return world;
}

}  // namespace

// Nodes are numbered without gaps, each PE is on one, and real PEs are found both ways.
BOOST_AUTO_TEST_CASE(nodes_divide_the_world) {
  for (const char* text : {"6/2@0", "1000/128@0,512", "1001/7@0,3,500,998", "300000/128@0,65537,299990"}) {
    const config::SyntheticWorld world = world_of(text);
    const int n_real = static_cast<int>(world.n_nodes) * 3 - (world.node_pes < 3 ? 1 : 0);
    auto nodes = SyntheticNodes::make(world, n_real);
    BOOST_REQUIRE_MESSAGE(nodes.has_value(), text);
    int number = -1;
    int n_found = 0;
    bootstrap::NodeRuns runs;
    for (int pe = 0; pe < nodes->n_pes(); ++pe) {
      const bootstrap::SyntheticNode node = nodes->node_of(pe);
      if (pe == node.first_pe) ++number;
      BOOST_REQUIRE(node.number == number && pe >= node.first_pe && pe < node.first_pe + node.n_pes);
      BOOST_REQUIRE(node.n_pes <= world.node_pes);
      if (pe == node.first_pe) BOOST_REQUIRE_EQUAL(nodes->node_at(number).first_pe, pe);
      const int real = nodes->real_of_pe(pe);
      if (real >= 0) BOOST_CHECK_EQUAL(nodes->pe_of_real(real), pe);
      n_found += real >= 0 ? 1 : 0;
      runs.add(static_cast<std::uint32_t>(number));
    }
    BOOST_CHECK_EQUAL(n_found, n_real);
    for (int pe = 0; pe < nodes->n_pes(); ++pe)
      BOOST_REQUIRE_EQUAL(runs.of(static_cast<std::uint32_t>(pe)),
                          static_cast<std::uint32_t>(nodes->node_of(pe).number));
  }
}

BOOST_AUTO_TEST_CASE(real_pes_that_do_not_fit_are_refused) {
  BOOST_CHECK(!SyntheticNodes::make(world_of("1000/128@0,512"), 3));
  BOOST_CHECK(!SyntheticNodes::make(world_of("1000/2@0,512"), 6));
  BOOST_CHECK(!SyntheticNodes::make(world_of("1000/128@0,2"), 6));
  BOOST_CHECK(!SyntheticNodes::make(world_of("1000/128@0,999"), 4));
}

BOOST_AUTO_TEST_CASE(runs_are_few_where_placement_is_regular) {
  bootstrap::NodeRuns block;
  bootstrap::NodeRuns cyclic;
  bootstrap::NodeRuns other;
  constexpr std::uint32_t kNodes = 1000;
  for (std::uint32_t pe = 0; pe < 64 * kNodes; ++pe) {
    block.add(pe / 64);
    cyclic.add(pe % kNodes);
    other.add(pe * 7919 % kNodes);
  }
  BOOST_CHECK_LE(block.bytes(), std::size_t{2} * kNodes * 12);
  BOOST_CHECK_LE(cyclic.bytes(), std::size_t{2} * 64 * 12);
  for (std::uint32_t pe = 0; pe < 64 * kNodes; ++pe)
    BOOST_REQUIRE(block.of(pe) == pe / 64 && cyclic.of(pe) == pe % kNodes && other.of(pe) == pe * 7919 % kNodes);
  other.for_each(
      [](int pe, std::uint32_t node) { BOOST_REQUIRE_EQUAL(node, static_cast<std::uint32_t>(pe) * 7919 % kNodes); });
}

// Whole nodes, and nodes of the job that are parts of the map's.
BOOST_AUTO_TEST_CASE(a_map_that_looks_up_locations_says_the_same_and_keeps_no_runs) {
  constexpr std::uint32_t kPes = 1000;
  bootstrap::NodeMap map;
  map.hosts = {"a", "b", "c"};
  std::vector<PeLocation> whole;
  std::vector<PeLocation> parts;
  for (std::uint32_t pe = 0; pe < kPes; ++pe) {
    const std::uint32_t node = pe * pe % 7 % 3;
    map.node_of.add(node);
    whole.push_back({node, 0});
    parts.push_back({2 * node + pe % 2, 0});
  }
  const bootstrap::NodeMap before = map;
  const auto same = [&](const bootstrap::NodeMap& other) {
    BOOST_CHECK_EQUAL(other.n_nodes(), 3);
    BOOST_CHECK_EQUAL(other.node_of.bytes(), 0U);
    for (int pe = 0; pe < static_cast<int>(kPes); ++pe) BOOST_REQUIRE_EQUAL(other.node(pe), before.node(pe));
    BOOST_CHECK(other.pes_with(5, kPes) == before.pes_with(5, kPes));
  };
  map.look_up_in(whole.data(), {});
  same(map);
  map.look_up_in(parts.data(), {0, 0, 1, 1, 2, 2});
  same(map);
}

BOOST_AUTO_TEST_SUITE_END()
