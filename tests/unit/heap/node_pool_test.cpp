#include "heap/node_pool.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <set>
#include <vector>

BOOST_AUTO_TEST_SUITE(heap_node_pool)

namespace {

struct Node {
  std::uint64_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};
};

}  // namespace

BOOST_AUTO_TEST_CASE(nodes_are_distinct_constructed_and_do_not_move) {
  shmemx::heap::NodePool<Node> pool;
  std::vector<Node*> nodes;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    BOOST_REQUIRE(pool.reserve(1));
    nodes.push_back(pool.take());
    BOOST_REQUIRE_EQUAL(nodes.back()->words[7], 8U);
    nodes.back()->words[0] = i;
  }
  BOOST_CHECK_EQUAL(std::set<Node*>(nodes.begin(), nodes.end()).size(), nodes.size());
  for (std::uint64_t i = 0; i < nodes.size(); ++i) BOOST_REQUIRE_EQUAL(nodes[i]->words[0], i);
}

BOOST_AUTO_TEST_CASE(given_back_nodes_are_used_again) {
  shmemx::heap::NodePool<Node> pool;
  BOOST_REQUIRE(pool.reserve(2));
  Node* const first = pool.take();
  Node* const second = pool.take();
  pool.give_back(first);
  BOOST_CHECK_EQUAL(pool.take(), first);
  BOOST_CHECK_EQUAL(first->words[0], 1U);
  pool.give_back(second);
}

BOOST_AUTO_TEST_CASE(a_reservation_is_kept_across_chunks) {
  shmemx::heap::NodePool<Node> pool;
  std::set<Node*> nodes;
  for (const std::size_t count : {std::size_t{1}, std::size_t{1500}, std::size_t{40000}}) {
    BOOST_REQUIRE(pool.reserve(count));
    for (std::size_t i = 0; i < count; ++i) nodes.insert(pool.take());
  }
  BOOST_CHECK_EQUAL(nodes.size(), 41501U);
}

BOOST_AUTO_TEST_SUITE_END()
