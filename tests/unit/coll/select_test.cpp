#include "coll/common/select.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(coll_select)

using namespace shmemx;
using coll::NodeBroadcast;
using coll::NodesBroadcast;
using coll::TeamNodes;

namespace {

// Returns `count` nodes with `each` members.
TeamNodes nodes_with(int count, int each) {
  TeamNodes nodes;
  nodes.begin.push_back(0);
  for (int node = 0; node < count; ++node) nodes.begin.push_back(nodes.begin.back() + each);
  nodes.min_size = nodes.max_size = each;
  return nodes;
}

}  // namespace

BOOST_AUTO_TEST_CASE(only_oversubscribed_nodes_use_the_counting_barrier) {
  BOOST_CHECK(coll::barrier_counts(true, true));
  BOOST_CHECK(!coll::barrier_counts(false, true));
  BOOST_CHECK(!coll::barrier_counts(true, false));
}

BOOST_AUTO_TEST_CASE(crowded_nodes_of_many_pes_take_the_tree) {
  BOOST_CHECK(!coll::takes_tree(32, true) && coll::takes_tree(33, true));
  BOOST_CHECK(!coll::takes_tree(64, false) && coll::takes_tree(65, false));
  BOOST_CHECK(coll::moves_by_tree(65536, 33, true) && !coll::moves_by_tree(65537, 64, true));
  BOOST_CHECK(coll::moves_by_tree(65537, 65, true) && !coll::moves_by_tree(65537, 65, false));
  BOOST_CHECK(coll::moves_by_tree(1024, 65, false) && !coll::moves_by_tree(1025, 65, false));
  BOOST_CHECK(coll::scan_chains(65, true) && !coll::scan_chains(64, true) && !coll::scan_chains(65, false));
}

BOOST_AUTO_TEST_CASE(short_broadcasts_are_pushed_and_long_ones_pulled) {
  BOOST_CHECK(coll::node_broadcast(16384, 8, false) == NodeBroadcast::push_flat);
  BOOST_CHECK(coll::node_broadcast(16384, 9, false) == NodeBroadcast::push_tree);
  BOOST_CHECK(coll::node_broadcast(16385, 2, false) == NodeBroadcast::pull);
  BOOST_CHECK(coll::node_broadcast(16385, 1, false) == NodeBroadcast::push_flat);
  BOOST_CHECK(coll::node_broadcast(16385, 64, true) == NodeBroadcast::pull);
  BOOST_CHECK(coll::node_broadcast(16385, 65, true) == NodeBroadcast::push_tree);
  BOOST_CHECK(coll::node_broadcast(16385, 65, false) == NodeBroadcast::pull);
  BOOST_CHECK(coll::active_broadcast_pushes(16384, 8));
  BOOST_CHECK(!coll::active_broadcast_pushes(16385, 8));
  BOOST_CHECK(!coll::active_broadcast_pushes(16384, 9));
}

BOOST_AUTO_TEST_CASE(data_that_a_reduction_publishes_fit_the_scratch_areas) {
  BOOST_CHECK(coll::reduction_publishes(4096, 4));
  BOOST_CHECK(!coll::reduction_publishes(4097, 1));
  BOOST_CHECK(!coll::reduction_publishes(4096, 5));
}

BOOST_AUTO_TEST_CASE(the_length_selects_the_algorithm_of_a_broadcast_between_nodes) {
  const TeamNodes two = nodes_with(2, 1);
  const TeamNodes four = nodes_with(4, 2);
  const TeamNodes five = nodes_with(5, 2);
  BOOST_CHECK_EQUAL(coll::broadcast_segment(two, NodesBroadcast::tree), std::size_t{8} << 20);
  BOOST_CHECK_EQUAL(coll::broadcast_segment(nodes_with(2, 2), NodesBroadcast::tree), std::size_t{512} << 10);
  BOOST_CHECK_EQUAL(coll::broadcast_segment(four, NodesBroadcast::chain), std::size_t{256} << 10);
  BOOST_CHECK(coll::nodes_broadcast(four, 16384) == NodesBroadcast::flat);
  BOOST_CHECK(coll::nodes_broadcast(five, 16384) == NodesBroadcast::tree);
  BOOST_CHECK(coll::nodes_broadcast(four, (std::size_t{4} << 20) - 1) == NodesBroadcast::tree);
  BOOST_CHECK(coll::nodes_broadcast(four, std::size_t{4} << 20) == NodesBroadcast::chain);
  BOOST_CHECK(coll::nodes_broadcast(nodes_with(3, 2), std::size_t{1} << 30) == NodesBroadcast::tree);
}

BOOST_AUTO_TEST_CASE(leaders_execute_short_operations) {
  const TeamNodes three = nodes_with(3, 2);
  const TeamNodes four = nodes_with(4, 1);
  BOOST_CHECK(coll::leaders_exchange_directly(three) && !coll::leaders_exchange_directly(four));
  BOOST_CHECK(coll::reduce_by_leaders(three, 8192) && !coll::reduce_by_leaders(three, 8193));
  BOOST_CHECK(coll::reduce_by_leaders(nodes_with(16, 1), 16383) && !coll::reduce_by_leaders(nodes_with(16, 1), 16384));
  BOOST_CHECK(coll::collect_by_leaders(three, 32768) && !coll::collect_by_leaders(three, 32769));
  BOOST_CHECK(coll::collect_by_leaders(four, 32768) && !coll::collect_by_leaders(nodes_with(3, 1), 8));
  BOOST_CHECK(coll::alltoall_by_leaders(three, 2048) && !coll::alltoall_by_leaders(three, 2049));
  BOOST_CHECK(coll::alltoall_by_leaders(nodes_with(2, 8), 512) && !coll::alltoall_by_leaders(nodes_with(2, 8), 513));
  BOOST_CHECK(coll::alltoall_by_leaders(four, 512) && !coll::alltoall_by_leaders(four, 513));
  BOOST_CHECK(!coll::alltoall_by_leaders(nodes_with(3, 1), 8));
  BOOST_CHECK(coll::alltoall_on_mesh(four) && !coll::alltoall_on_mesh(three));
  BOOST_CHECK(coll::scan_by_leaders(8192) && !coll::scan_by_leaders(8193));
}

BOOST_AUTO_TEST_CASE(a_collect_takes_what_was_asked_for_where_it_can) {
  using coll::NodesCollect;
  const TeamNodes equal = nodes_with(4, 2);
  TeamNodes unequal = equal;
  unequal.max_size = 3;
  constexpr std::size_t kLong = std::size_t{1} << 20;
  BOOST_CHECK(coll::nodes_collect(equal, 8, {}) == NodesCollect::leaders);
  BOOST_CHECK(coll::nodes_collect(equal, kLong, {}) == NodesCollect::pairs);
  BOOST_CHECK(coll::nodes_collect(equal, kLong, {kLong, 0}) == NodesCollect::leaders);
  BOOST_CHECK(coll::nodes_collect(equal, kLong << 10, {kLong << 20, 0}) == NodesCollect::pairs);
  BOOST_CHECK(coll::nodes_collect(equal, 8, {0, 0}) == NodesCollect::pairs);
  BOOST_CHECK(coll::nodes_collect(equal, 8, {{}, 4}) == NodesCollect::prefix);
  BOOST_CHECK(coll::nodes_collect(equal, 8, {kLong, 4}) == NodesCollect::leaders);
  BOOST_CHECK(coll::nodes_collect(unequal, 8, {{}, 4}) == NodesCollect::pairs);
}

BOOST_AUTO_TEST_CASE(blocks_of_collectives_in_the_background_go_by_nodes_that_are_shared) {
  using coll::BackgroundBlocks;
  const TeamNodes shared = nodes_with(2, 8);
  const TeamNodes alone = nodes_with(16, 1);
  const TeamNodes one = nodes_with(1, 16);
  BOOST_CHECK(coll::background_fcollect(shared, 2048) == BackgroundBlocks::leaders);
  BOOST_CHECK(coll::background_fcollect(shared, 2049) == BackgroundBlocks::passed);
  BOOST_CHECK(coll::background_fcollect(nodes_with(2, 64), 1024) == BackgroundBlocks::leaders);
  BOOST_CHECK(coll::background_fcollect(nodes_with(2, 64), 1025) == BackgroundBlocks::passed);
  for (const TeamNodes* const nodes : {&alone, &one}) {
    BOOST_CHECK(coll::background_fcollect(*nodes, 2048) == BackgroundBlocks::rounds);
    BOOST_CHECK(coll::background_fcollect(*nodes, 2049) == BackgroundBlocks::pairs);
    BOOST_CHECK(coll::background_alltoall(*nodes, 512) == BackgroundBlocks::rounds);
    BOOST_CHECK(coll::background_alltoall(*nodes, 513) == BackgroundBlocks::pairs);
  }
  BOOST_CHECK(coll::background_alltoall(shared, 512) == BackgroundBlocks::leaders);
  BOOST_CHECK(coll::background_alltoall(shared, 513) == BackgroundBlocks::gathered);
  BOOST_CHECK(coll::background_alltoall(shared, 8192) == BackgroundBlocks::gathered);
  BOOST_CHECK(coll::background_alltoall(shared, 8193) == BackgroundBlocks::pairs);
  BOOST_CHECK(coll::background_alltoall(nodes_with(17, 2), 512) == BackgroundBlocks::rounds);
  BOOST_CHECK(coll::background_alltoall(nodes_with(4, 1), 8) == BackgroundBlocks::pairs);
  BOOST_CHECK(coll::background_alltoall(nodes_with(2048, 1), 512) == BackgroundBlocks::pairs);
}

BOOST_AUTO_TEST_CASE(blocks_of_different_lengths_are_gathered_where_nodes_are_shared) {
  BOOST_CHECK(coll::gathers_alltoallv(nodes_with(2, 2), false));
  BOOST_CHECK(!coll::gathers_alltoallv(nodes_with(2, 4), true));  // one round from each to each
  BOOST_CHECK(coll::gathers_alltoallv(nodes_with(2, 5), true));
  BOOST_CHECK(!coll::gathers_alltoallv(nodes_with(16, 1), false) && !coll::gathers_alltoallv(nodes_with(1, 16), false));
  BOOST_CHECK_EQUAL(coll::gathered_block_bytes(nodes_with(2, 8)), 4096U);
  BOOST_CHECK_EQUAL(coll::gathered_block_bytes(nodes_with(64, 16)), 2048U);
}

BOOST_AUTO_TEST_CASE(an_alltoall_in_the_background_takes_rounds_where_they_are_asked_for) {
  using coll::BackgroundBlocks;
  const TeamNodes nodes = nodes_with(2, 2);
  BOOST_CHECK(coll::background_alltoall(nodes, 8) == BackgroundBlocks::leaders);
  BOOST_CHECK(coll::background_alltoall(nodes, 4096, 4096) == BackgroundBlocks::rounds);
  BOOST_CHECK(coll::background_alltoall(nodes, 4097, 4096) == BackgroundBlocks::pairs);
  BOOST_CHECK(coll::background_alltoall(nodes, 0, 0) == BackgroundBlocks::pairs);
  BOOST_CHECK(coll::background_alltoall(nodes_with(1, 1), 8, 4096) == BackgroundBlocks::pairs);
}

BOOST_AUTO_TEST_SUITE_END()
