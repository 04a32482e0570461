#include "coll/internode/prefix_groups.hpp"

#include <boost/test/unit_test.hpp>
#include <set>
#include <vector>

BOOST_AUTO_TEST_SUITE(coll_prefix_groups)

using shmemx::coll::PrefixGroups;

BOOST_AUTO_TEST_CASE(groups_divide_the_nodes) {
  BOOST_CHECK_EQUAL(PrefixGroups(16, 4).size(), 4);
  BOOST_CHECK_EQUAL(PrefixGroups(16, 100).size(), 16);
  BOOST_CHECK_EQUAL(PrefixGroups(6, 4).size(), 3);
  BOOST_CHECK_EQUAL(PrefixGroups(7, 4).size(), 1);
  BOOST_CHECK_EQUAL(PrefixGroups(16, 4).rounds(), 4);
}

// Runs the exchange of all nodes, round by round, and checks that a node has what it passes on.
BOOST_AUTO_TEST_CASE(every_node_receives_every_contribution_once) {
  for (int n = 1; n <= 17; ++n) {
    for (const int wanted : {1, 2, 3, 4, 8, 100}) {
      const PrefixGroups groups(n, wanted);
      std::vector<std::multiset<int>> has(static_cast<std::size_t>(n));
      for (int node = 0; node < n; ++node) has[static_cast<std::size_t>(node)].insert(node);
      for (int round = 0; round < groups.rounds(); ++round) {
        auto after = has;
        for (int node = 0; node < n; ++node) {
          const int owner = groups.passed_on(node, round);
          BOOST_REQUIRE_EQUAL(has[static_cast<std::size_t>(node)].count(owner), 1U);
          BOOST_REQUIRE_EQUAL(groups.previous(groups.next(node)), node);
          if (round + 1 < groups.rounds()) after[static_cast<std::size_t>(groups.next(node))].insert(owner);
          for (int i = 1; i < groups.size(); ++i) {
            const int target = groups.target(node, i);
            BOOST_REQUIRE_EQUAL(groups.source(target, i), node);
            BOOST_REQUIRE_EQUAL(target / groups.size(), node / groups.size());
            after[static_cast<std::size_t>(target)].insert(owner);
          }
        }
        has = after;
      }
      for (const auto& all : has) {
        BOOST_REQUIRE_EQUAL(all.size(), static_cast<std::size_t>(n));
        BOOST_REQUIRE_EQUAL(std::set<int>(all.begin(), all.end()).size(), static_cast<std::size_t>(n));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(groups_of_a_power_of_two_exchange_in_pairs) {
  const PrefixGroups groups(8, 4);
  for (int node = 0; node < 8; ++node)
    for (int i = 1; i < 4; ++i) BOOST_CHECK_EQUAL(groups.target(node, i), groups.source(node, i));
}

BOOST_AUTO_TEST_SUITE_END()
