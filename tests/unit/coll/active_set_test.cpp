#include "coll/active_set/group.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

#include "support/child.hpp"
#include "support/thread_pes.hpp"

BOOST_AUTO_TEST_SUITE(coll_active_set)

namespace {

using namespace shmemx;
using unit::Failures;
using unit::Node;

constexpr std::size_t kPsync = 4096;  // heap offset
constexpr std::size_t kPsyncWords = 3;

std::uint64_t word_of(int pe, int round) {
  return static_cast<std::uint64_t>(round) * 1000 + static_cast<std::uint64_t>(pe);
}

}  // namespace

BOOST_AUTO_TEST_CASE(active_sets_synchronise_and_restore_psync) {
  const unit::WaitingGuard guard(unit::oversubscribed_policy());
  for (const int n_pes : unit::kPeCounts) {
    const Node node(n_pes);
    Failures wrong;
    node.run([&](int pe) {
      const team::PeSet set = *node.world(0).set.subset(n_pes - 1, -1, n_pes);
      coll::ActiveGroup group(node.world(pe), "group_test", set, node.at<long>(pe, kPsync));
      wrong.expect(group.me() == n_pes - 1 - pe && group.size() == n_pes);
      for (int round = 1; round <= unit::rounds(node.size()); ++round) {
        *node.at<long>(pe, 0) = round;
        group.publish_word(word_of(group.me(), round));
        group.sync();
        for (int other = 0; other < n_pes; ++other) {
          wrong.expect(*node.at<long>(other, 0) == round);
          wrong.expect(group.published_word(other) == word_of(other, round));
        }
        group.sync();
      }
      group.retract_word();
    });
    BOOST_TEST_CONTEXT(n_pes << " PEs") {
      BOOST_CHECK_EQUAL(wrong.count(), 0);
      for (int pe = 0; pe < n_pes; ++pe) {
        for (std::size_t i = 0; i < kPsyncWords; ++i) BOOST_CHECK_EQUAL(node.at<long>(pe, kPsync)[i], 0);
      }
    }
  }
}

// As when the root of a broadcast has left the synchronisation before, whose last PE has yet to release the third one.
BOOST_AUTO_TEST_CASE(releases_of_two_pes_are_not_merged) {
  const unit::WaitingGuard guard(unit::oversubscribed_policy());
  const Node node(3);
  const auto group_of = [&](int pe) {
    return coll::ActiveGroup(node.world(pe), "group_test", node.world(pe).set, node.at<long>(pe, kPsync));
  };
  node.run([&](int pe) {
    if (pe != 2) group_of(pe).release(2);
  });
  BOOST_REQUIRE_EQUAL(node.at<long>(2, kPsync)[1], 2);
  node.run([&](int pe) {
    if (pe != 2) return;
    group_of(pe).await_release();
    group_of(pe).await_release();
  });
  BOOST_CHECK_EQUAL(node.at<long>(2, kPsync)[1], 0);
}

BOOST_AUTO_TEST_CASE(active_sets_with_their_own_psync_do_not_disturb_each_other) {
  const unit::WaitingGuard guard(unit::oversubscribed_policy());
  const Node node(8);
  Failures wrong;
  node.run([&](int pe) {
    const team::PeSet set = *node.world(0).set.subset(pe % 2, 2, 4);
    coll::ActiveGroup group(node.world(pe), "group_test", set, node.at<long>(pe, kPsync));
    for (int round = 1; round <= unit::rounds(node.size()) / 2; ++round) {
      *node.at<long>(pe, 0) = round;
      group.sync();
      for (int i = 0; i < 4; ++i) wrong.expect(*node.at<long>(pe % 2 + 2 * i, 0) == round);
      group.sync();
    }
  });
  BOOST_CHECK_EQUAL(wrong.count(), 0);
}

BOOST_AUTO_TEST_CASE(a_pe_outside_the_active_set_is_named) {
  const Node node(3);
  const auto end = unit::in_child([&] {
    const coll::ActiveGroup group(node.world(1), "shmem_barrier", team::PeSet(Pe{0}, 2, 2), node.at<long>(1, kPsync));
    return 0;
  });
  BOOST_CHECK_EQUAL(end.status, 1);
  BOOST_CHECK_EQUAL(end.text, "shmem_barrier: PE 1 is not in the active set it called with. Job ended.\n");
}

BOOST_AUTO_TEST_CASE(a_psync_that_is_not_symmetric_is_named) {
  const Node node(3);
  long psync[kPsyncWords] = {};
  const auto end = unit::in_child([&] {
    const coll::ActiveGroup group(node.world(1), "shmem_barrier", node.world(1).set, psync);
    return 0;
  });
  BOOST_CHECK_EQUAL(end.status, 1);
  BOOST_CHECK_MESSAGE(end.text.starts_with("shmem_barrier: argument 'pSync' is 0x"), end.text);
}

BOOST_AUTO_TEST_SUITE_END()
