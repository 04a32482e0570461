#include "coll/alltoall.hpp"

#include <boost/test/unit_test.hpp>

#include "support/moved_data.hpp"

BOOST_AUTO_TEST_SUITE(coll_alltoall)

namespace {

using namespace shmemx;
using coll::TeamGroup;
using namespace shmemx::unit;

}  // namespace

BOOST_AUTO_TEST_CASE(alltoall_exchanges_blocks) {
  rounds_on_nodes(40, [](const Node& node, TeamGroup& group, int round, Failures& wrong) {
    const auto bytes = static_cast<std::size_t>(round * 5);
    const auto me = static_cast<std::size_t>(group.me());
    fill(node, group.me(), bytes * static_cast<std::size_t>(node.size()), round);
    coll::alltoall(group, symmetric_at(node, kDest), symmetric_at(node, kSource), bytes);
    for (int pe = 0; pe < node.size(); ++pe) {
      wrong.expect(holds(node, group.me(), {static_cast<std::size_t>(pe) * bytes, bytes, pe, me * bytes}, round));
    }
  });
}

BOOST_AUTO_TEST_CASE(alltoalls_exchanges_blocks_with_strides) {
  rounds_on_nodes(20, [](const Node& node, TeamGroup& group, int round, Failures& wrong) {
    const rma::Strided shape{4, static_cast<std::size_t>(round), 12, 8};
    const std::size_t dest_block = shape.block_count * shape.dest_step;
    const std::size_t source_block = shape.block_count * shape.source_step;
    const auto me = static_cast<std::size_t>(group.me());
    fill(node, group.me(), source_block * static_cast<std::size_t>(node.size()), round);
    coll::alltoalls(group, symmetric_at(node, kDest), symmetric_at(node, kSource), shape);
    for (int pe = 0; pe < node.size(); ++pe) {
      for (std::size_t i = 0; i < shape.block_count; ++i) {
        const std::size_t at = static_cast<std::size_t>(pe) * dest_block + i * shape.dest_step;
        wrong.expect(holds(node, group.me(), {at, 4, pe, me * source_block + i * shape.source_step}, round));
      }
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
