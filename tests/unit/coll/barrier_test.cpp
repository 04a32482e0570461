#include "coll/barrier.hpp"

#include <sched.h>

#include <boost/test/unit_test.hpp>
#include <cstring>

#include "coll/common/flags.hpp"
#include "coll/node/barrier.hpp"
#include "support/thread_pes.hpp"

BOOST_AUTO_TEST_SUITE(coll_barrier)

namespace {

using namespace shmemx;
using unit::Failures;
using unit::Node;

// Every PE writes its own counter, which is not atomic, and reads those of the others after the barrier, which orders
// the accesses.
void count_together(const Node& node, coll::Team& team, int rounds, Failures& wrong) {
  const int world_pe = team.route.set.world(TeamPe{team.me()}).value;
  long& mine = *node.at<long>(world_pe, 0);
  const long begin = mine;
  for (int round = 1; round <= rounds; ++round) {
    ++mine;
    coll::barrier(team, "barrier_test");
    for (int pe = 0; pe < team.size(); ++pe) {
      wrong.expect(*node.at<long>(team.route.set.world(TeamPe{pe}).value, 0) == begin + round);
    }
    coll::barrier(team, "barrier_test");
  }
}

// The same in two teams at once: the even PEs, and the odd ones in reverse order.
void count_in_two_teams(const Node& node, bool counting, Failures& wrong) {
  const int n = node.size();
  const int odd_count = n / 2;
  node.run([&](int pe) {
    const team::PeSet set = pe % 2 == 0 ? *node.world(0).set.subset(0, 2, (n + 1) / 2)
                                        : *node.world(0).set.subset(2 * odd_count - 1, -2, odd_count);
    coll::Team team = node.team(pe, static_cast<std::size_t>(5 + pe % 2), set, counting);
    count_together(node, team, unit::rounds(node.size()) / 4, wrong);
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_pe_leaves_before_all_have_entered) {
  const auto run = [](const Node& node, bool counting) {
    Failures wrong;
    node.run([&](int pe) {
      coll::Team team = node.world_team(pe, counting);
      count_together(node, team, unit::rounds(node.size()), wrong);
    });
    BOOST_TEST_CONTEXT(node.size() << " PEs, counting " << counting) BOOST_CHECK_EQUAL(wrong.count(), 0);
  };
  unit::for_each_node(run);
  unit::for_each_tree(run);
}

BOOST_AUTO_TEST_CASE(teams_do_not_disturb_each_other) {
  const auto run = [](const Node& node, bool counting) {
    Failures wrong;
    count_in_two_teams(node, counting, wrong);
    BOOST_TEST_CONTEXT(node.size() << " PEs, counting " << counting) BOOST_CHECK_EQUAL(wrong.count(), 0);
  };
  unit::for_each_node(run);
  unit::for_each_tree(run);
}

BOOST_AUTO_TEST_CASE(trees_of_few_members_are_barriers_too) {
  const unit::WaitingGuard guard(unit::oversubscribed_policy());
  for (const int n_pes : unit::kSmallTreePeCounts) {
    const Node node(n_pes);
    std::atomic<int> entered{0};
    Failures wrong;
    node.run([&](int pe) {
      coll::Team team = node.world_team(pe, true);
      for (int round = 1; round <= 50; ++round) {
        entered.fetch_add(1, std::memory_order_relaxed);
        coll::barrier_tree(team, "barrier_test");
        wrong.expect(entered.load(std::memory_order_relaxed) >= round * n_pes);
        coll::barrier_tree(team, "barrier_test");
        wrong.expect(entered.load(std::memory_order_relaxed) <= (round + 1) * n_pes);
      }
    });
    BOOST_TEST_CONTEXT(n_pes << " PEs") BOOST_CHECK_EQUAL(wrong.count(), 0);
  }
}

// A member may use its slot for another team as soon as it has left: its words are wiped then, as a split does it.
BOOST_AUTO_TEST_CASE(nobody_touches_the_slot_of_a_member_that_has_left_a_tree) {
  const unit::WaitingGuard guard(unit::oversubscribed_policy());
  for (const int n_pes : unit::kTreePeCounts) {
    const Node node(n_pes);
    Failures wrong;
    node.run([&](int pe) {
      coll::Team team = node.world_team(pe, true);
      for (int round = 0; round < 8; ++round) {
        coll::barrier(team, "barrier_test");
        const std::size_t bytes = node.arena().geometry().slot_bytes;
        std::memset(team.slot(pe), 0, bytes);
        for (int turn = 0; turn < pe % 5; ++turn) sched_yield();
        for (std::size_t i = 0; i < bytes; ++i) wrong.expect(team.slot(pe)[i] == std::byte{0});
        coll::Team other = node.team(pe, 9, team.route.set, true);  // lets all members wipe before the next round
        other.climbed.turns = other.climbed.sum = static_cast<std::uint64_t>(round);
        coll::barrier(other, "barrier_test");
        team.climbed = {};
      }
    });
    BOOST_TEST_CONTEXT(n_pes << " PEs") BOOST_CHECK_EQUAL(wrong.count(), 0);
  }
}

BOOST_AUTO_TEST_CASE(barriers_work_for_numbers_of_pes_that_are_no_powers_of_two) {
  const unit::WaitingGuard guard(unit::oversubscribed_policy());
  for (const int n_pes : {5, 7, 13}) {
    const Node node(n_pes);
    Failures wrong;
    node.run([&](int pe) {
      coll::Team team = node.world_team(pe, false);
      count_together(node, team, 50, wrong);
    });
    BOOST_TEST_CONTEXT(n_pes << " PEs") BOOST_CHECK_EQUAL(wrong.count(), 0);
  }
}

// The policy is global to the process, so all PEs sleep on the doorbell of PE 0. A PE that is not woken wakes when its
// bounded sleep ends.
BOOST_AUTO_TEST_CASE(sleeping_pes_complete_the_barrier) {
  for (const bool counting : {false, true}) {
    const Node node(3);
    unit::WaitSettings policy = unit::oversubscribed_policy();
    policy.mode = WaitMode::block;
    policy.sleep.max_ns = 100'000;
    policy.own_doorbell = &node.arena().doorbell(NodeIndex{0});
    const unit::WaitingGuard guard(policy);
    Failures wrong;
    node.run([&](int pe) {
      coll::Team team = node.world_team(pe, counting);
      count_together(node, team, 100, wrong);
    });
    BOOST_CHECK_EQUAL(wrong.count(), 0);
  }
}

BOOST_AUTO_TEST_CASE(a_flag_publishes_the_stores_before_it) {
  const unit::WaitingGuard guard(unit::oversubscribed_policy());
  const Node node(2);
  Failures wrong;
  node.run([&](int pe) {
    coll::Team team = node.world_team(pe, false);
    for (int round = 1; round <= unit::rounds(2); ++round) {
      const auto epoch = static_cast<std::uint64_t>(round);
      if (pe == 0) {
        *node.at<long>(1, 64) = round;
        coll::set_flag(team, "barrier_test", 1, epoch);
        coll::await_flag(team, "barrier_test", 1, epoch);
      } else {
        coll::await_flag(team, "barrier_test", 0, epoch);
        wrong.expect(*node.at<long>(1, 64) == round);
        coll::set_flag(team, "barrier_test", 0, epoch);
      }
    }
  });
  BOOST_CHECK_EQUAL(wrong.count(), 0);
}

BOOST_AUTO_TEST_SUITE_END()
