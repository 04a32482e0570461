#include "coll/exchange.hpp"

#include <boost/test/unit_test.hpp>

#include "coll/barrier.hpp"
#include "support/moved_data.hpp"

BOOST_AUTO_TEST_SUITE(coll_exchange)

namespace {

using namespace shmemx;
using coll::TeamGroup;
using namespace shmemx::unit;

struct Contribution {
  std::uint64_t turn;
  std::uint64_t value;
};

}  // namespace

// In every third round all contribute the same; in the others one PE, each in turn, does not.
BOOST_AUTO_TEST_CASE(equal_contributions_are_recognised_on_all_pes) {
  rounds_on_nodes(30, [](const Node& node, TeamGroup& group, int round, Failures& wrong) {
    const int odd_one = round % 3 == 0 ? -1 : (round * 5) % node.size();
    const auto turn = static_cast<std::uint64_t>(round);
    const Contribution mine{turn, group.me() == odd_one ? 1U : 0U};
    const bool alike = coll::exchange_alike(group, &mine, sizeof mine);
    wrong.expect(alike == (odd_one < 0 || node.size() == 1));
    if (alike) return;
    for (int pe = 0; pe < node.size(); ++pe) {
      Contribution theirs;
      std::memcpy(&theirs, group.published(pe), sizeof theirs);
      wrong.expect(theirs.turn == turn && theirs.value == (pe == odd_one ? 1U : 0U));
    }
  });
}

// As when one PE is in another routine: whatever its place in the tree, the others do not take its old data for new.
BOOST_AUTO_TEST_CASE(a_pe_in_a_barrier_is_not_taken_for_one_that_contributes) {
  for_each_tree([](const Node& node, bool counting) {
    Failures wrong;
    node.run([&](int pe) {
      coll::Team team = node.world_team(pe, counting);
      TeamGroup group(team, "exchange_test");
      for (int stray = 0; stray < node.size(); ++stray) {
        const Contribution mine{team.exchanges + 1, 7};
        if (pe == stray) {
          ++team.exchanges;  // as after two exchanges that this PE took part in
          coll::barrier(team, "exchange_test");
        } else {
          wrong.expect(!coll::exchange_alike(group, &mine, sizeof mine));
        }
        coll::barrier(team, "exchange_test");
      }
    });
    BOOST_TEST_CONTEXT(node.size() << " PEs") BOOST_CHECK_EQUAL(wrong.count(), 0);
  });
}

BOOST_AUTO_TEST_SUITE_END()
