#include "coll/exchange.hpp"

#include <array>
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

// Agree if `value` is the same; `able` is merged.
struct Call {
  int value;
  bool able;
  static bool merge(Call& into, const Call& from) {
    into.able = into.able && from.able;
    return into.value == from.value;
  }
};
coll::Merged<Call> of_pe(int pe, int value, bool able = true) { return {{pe, -1}, {value, able}, {}}; }

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

BOOST_AUTO_TEST_CASE(contributions_that_agree_are_merged) {
  coll::Merged<Call> all = of_pe(2, 7);
  all.add(of_pe(0, 7));
  all.add(of_pe(1, 7, false));
  BOOST_CHECK_EQUAL(all.pes.lowest, 0);
  BOOST_CHECK_EQUAL(all.pes.other, -1);
  BOOST_CHECK(!all.lowest.able);
}

BOOST_AUTO_TEST_CASE(the_lowest_pe_that_differs_is_found_in_any_order) {
  const int values[] = {7, 7, 9, 7, 8};
  for (const auto& order : {std::array{0, 1, 2, 3, 4}, std::array{4, 3, 2, 1, 0}, std::array{2, 4, 1, 0, 3}}) {
    coll::Merged<Call> all = of_pe(order[0], values[order[0]]);
    for (std::size_t i = 1; i < order.size(); ++i) all.add(of_pe(order[i], values[order[i]]));
    BOOST_CHECK_EQUAL(all.pes.lowest, 0);
    BOOST_CHECK_EQUAL(all.lowest.value, 7);
    BOOST_CHECK_EQUAL(all.pes.other, 2);
    BOOST_CHECK_EQUAL(all.other.value, 9);
  }
}

BOOST_AUTO_TEST_SUITE_END()
