#include "coll/collect.hpp"

#include <boost/test/unit_test.hpp>

#include "support/moved_data.hpp"

BOOST_AUTO_TEST_SUITE(coll_collect)

namespace {

using namespace shmemx;
using coll::TeamGroup;
using namespace shmemx::unit;

}  // namespace

BOOST_AUTO_TEST_CASE(fcollect_concatenates_in_order) {
  rounds_on_nodes(40, [](const Node& node, TeamGroup& group, int round, Failures& wrong) {
    const auto bytes = static_cast<std::size_t>(round * 13);
    fill(node, group.me(), bytes, round);
    coll::fcollect(group, symmetric_at(node, kDest), symmetric_at(node, kSource), bytes);
    for (int pe = 0; pe < node.size(); ++pe) {
      wrong.expect(holds(node, group.me(), {static_cast<std::size_t>(pe) * bytes, bytes, pe}, round));
    }
  });
}

BOOST_AUTO_TEST_CASE(collect_concatenates_contributions_of_different_length) {
  rounds_on_nodes(40, [](const Node& node, TeamGroup& group, int round, Failures& wrong) {
    const auto bytes_of = [round](int pe) { return static_cast<std::size_t>((pe * 29 + round * 7) % 50); };
    fill(node, group.me(), bytes_of(group.me()), round);
    coll::collect(
        group, [&](std::size_t) { return symmetric_at(node, kDest); }, symmetric_at(node, kSource).at(group.me()),
        bytes_of(group.me()));
    std::size_t at = 0;
    for (int pe = 0; pe < node.size(); ++pe) {
      wrong.expect(holds(node, group.me(), {at, bytes_of(pe), pe}, round));
      at += bytes_of(pe);
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
