#include "coll/common/nodes.hpp"

#include <boost/test/unit_test.hpp>

using shmemx::coll::TeamNodes;

namespace {

// Members 0 and 2 on node 0, member 1 on node 1, members 3 and 4 on node 2; this PE is member 1.
TeamNodes three_nodes() {
  TeamNodes nodes;
  nodes.mine = 1;
  nodes.members = {0, 2, 1, 3, 4};
  nodes.begin = {0, 2, 3, 5};
  nodes.position = {0, 2, 1, 3, 4};
  return nodes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(coll_nodes)

BOOST_AUTO_TEST_CASE(ahead_and_behind_count_in_opposite_directions) {
  const TeamNodes nodes = three_nodes();
  BOOST_CHECK_EQUAL(nodes.ahead(1), 2);
  BOOST_CHECK_EQUAL(nodes.ahead(2), 0);
  BOOST_CHECK_EQUAL(nodes.behind(1), 0);
  BOOST_CHECK_EQUAL(nodes.behind(2), 2);
  BOOST_CHECK_EQUAL(nodes.ahead(3), 1);
  BOOST_CHECK_EQUAL(nodes.behind(3), 1);
}

BOOST_AUTO_TEST_CASE(members_map_to_their_nodes_and_back) {
  const TeamNodes nodes = three_nodes();
  BOOST_CHECK_EQUAL(nodes.count(), 3);
  for (int node = 0; node < nodes.count(); ++node) {
    for (const int pe : nodes.on(node)) BOOST_CHECK_EQUAL(nodes.node_of(pe), node);
  }
  BOOST_CHECK_EQUAL(nodes.leader(0), 0);
  BOOST_CHECK_EQUAL(nodes.leader(2), 3);
  BOOST_CHECK_EQUAL(nodes.here().size(), 1U);
}

BOOST_AUTO_TEST_SUITE_END()
