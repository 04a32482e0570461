#include "coll/common/group.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "support/thread_pes.hpp"

BOOST_AUTO_TEST_SUITE(coll_group)

namespace {

using namespace shmemx;
using unit::Failures;
using unit::Node;

std::uint64_t word_of(int pe, int round) {
  return static_cast<std::uint64_t>(round) * 1000 + static_cast<std::uint64_t>(pe);
}

}  // namespace

// One barrier in each round: a PE that publishes again must not overwrite data that a slower PE is still reading.
BOOST_AUTO_TEST_CASE(published_words_alternate_safely) {
  const auto run = [](const Node& node, bool counting) {
    Failures wrong;
    node.run([&](int pe) {
      coll::Team team = node.world_team(pe, counting);
      coll::TeamGroup group(team, "group_test");
      for (int round = 0; round < unit::rounds(node.size()); ++round) {
        group.publish_word(word_of(pe, round));
        group.sync();
        for (int other = 0; other < node.size(); ++other)
          wrong.expect(group.published_word(other) == word_of(other, round));
      }
    });
    BOOST_TEST_CONTEXT(node.size() << " PEs, counting " << counting) BOOST_CHECK_EQUAL(wrong.count(), 0);
  };
  unit::for_each_node(run);
  unit::for_each_tree(run);
}

BOOST_AUTO_TEST_CASE(a_whole_scratch_area_may_be_published) {
  unit::for_each_node([](const Node& node, bool counting) {
    Failures wrong;
    node.run([&](int pe) {
      coll::Team team = node.world_team(pe, counting);
      coll::TeamGroup group(team, "group_test");
      for (int round = 0; round < 50; ++round) {
        std::vector<unsigned char> contribution(windows::kScratchBytes, static_cast<unsigned char>(round * 8 + pe));
        group.publish(contribution.data(), contribution.size());
        group.sync();
        for (int other = 0; other < node.size(); ++other) {
          const auto want = static_cast<std::byte>(round * 8 + other);
          wrong.expect(group.published(other)[0] == want && group.published(other)[windows::kScratchBytes - 1] == want);
        }
      }
    });
    BOOST_TEST_CONTEXT(node.size() << " PEs, counting " << counting) BOOST_CHECK_EQUAL(wrong.count(), 0);
  });
}

BOOST_AUTO_TEST_SUITE_END()
