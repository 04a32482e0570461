#include "coll/broadcast.hpp"

#include <boost/test/unit_test.hpp>

#include "coll/common/select.hpp"
#include "support/moved_data.hpp"

BOOST_AUTO_TEST_SUITE(coll_broadcast)

namespace {

using namespace shmemx;
using coll::TeamGroup;
using namespace shmemx::unit;

void broadcast_and_check(const Node& node, TeamGroup& group, std::size_t bytes, int round, Failures& wrong) {
  const int root = round % node.size();
  if (group.me() == root) fill(node, root, bytes, round);
  coll::broadcast(group, symmetric_at(node, kDest), symmetric_at(node, kSource), bytes, root);
  wrong.expect(holds(node, group.me(), {0, bytes, root}, round));
}

}  // namespace

BOOST_AUTO_TEST_CASE(broadcasts_of_every_size_deliver_to_all_pes) {
  rounds_on_nodes(40, [](const Node& node, TeamGroup& group, int round, Failures& wrong) {
    constexpr std::size_t kSizes[] = {8, 0, 1, 4096, coll::kPushBytes, coll::kPushBytes + 1, 40000};
    broadcast_and_check(node, group, kSizes[round % 7], round, wrong);
  });
}

BOOST_AUTO_TEST_CASE(broadcasts_to_many_pes_use_a_tree) {
  const unit::WaitingGuard guard(unit::oversubscribed_policy());
  for (const int n_pes : {9, 12, 16}) {
    const Node node(n_pes);
    Failures wrong;
    node.run([&](int pe) {
      coll::Team team = node.world_team(pe, true);
      TeamGroup group(team, "broadcast_test");
      for (int round = 0; round < 2 * n_pes; ++round) {
        broadcast_and_check(node, group, 100, round, wrong);
        group.sync();
      }
    });
    BOOST_TEST_CONTEXT(n_pes << " PEs") BOOST_CHECK_EQUAL(wrong.count(), 0);
  }
}

BOOST_AUTO_TEST_CASE(an_active_sets_broadcast_leaves_the_roots_dest_alone) {
  const unit::WaitingGuard guard(unit::oversubscribed_policy());
  const Node node(3);
  Failures wrong;
  node.run([&](int pe) {
    constexpr std::size_t kPsync = std::size_t{1} << 20;
    coll::ActiveGroup group(node.world(pe), "broadcast_test", node.world(pe).set, node.at<long>(pe, kPsync));
    for (int round = 1; round <= 50; ++round) {
      *node.at<unsigned char>(pe, kDest) = 0xee;
      fill(node, pe, 100, round);
      group.sync();  // dest is ready on all PEs before any PE calls
      coll::broadcast(group, symmetric_at(node, kDest), symmetric_at(node, kSource), 100, 1);
      wrong.expect(pe == 1 ? *node.at<unsigned char>(pe, kDest) == 0xee : holds(node, pe, {0, 100, 1}, round));
    }
  });
  BOOST_CHECK_EQUAL(wrong.count(), 0);
}

BOOST_AUTO_TEST_SUITE_END()
