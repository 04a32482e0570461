#include "coll/internode/mesh.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(coll_mesh)

using shmemx::coll::Mesh;

// Each block is forwarded by one node: the first hop leads from the source to that node, the second to the destination.
BOOST_AUTO_TEST_CASE(every_block_takes_at_most_two_hops) {
  for (int n = 1; n <= 40; ++n) {
    const Mesh mesh(n);
    for (int from = 0; from < n; ++from) {
      for (int to = 0; to < n; ++to) {
        if (from == to) continue;
        const int via = mesh.via(from, to);
        BOOST_REQUIRE(via >= 0 && via < n);
        const auto first = mesh.destinations(from, via);
        const auto second = mesh.sources(via, to);
        BOOST_REQUIRE_EQUAL(std::count(first.begin(), first.end(), to), 1);
        BOOST_REQUIRE_EQUAL(std::count(second.begin(), second.end(), from), 1);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(in_a_square_mesh_a_node_sends_within_its_row_and_column_only) {
  const Mesh mesh(16);
  for (int from = 0; from < 16; ++from) {
    int sends = 0;
    for (int other = 0; other < 16; ++other) {
      if (other == from) continue;
      const bool first = !mesh.destinations(from, other).empty();
      const bool second = !mesh.sources(from, other).empty();
      BOOST_CHECK(!first || from / 4 == other / 4 || from % 4 == other % 4);
      sends += (first ? 1 : 0) + (second ? 1 : 0);
    }
    BOOST_CHECK_LE(sends, 12);
  }
}

BOOST_AUTO_TEST_SUITE_END()
