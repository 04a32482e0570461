// Shared by the tests of collectives that move data: a pattern for each PE's source, and the comparison of dests.
#pragma once

#include <boost/test/unit_test.hpp>

#include "../../support/pattern.hpp"
#include "coll/common/group.hpp"
#include "support/thread_pes.hpp"

namespace shmemx::unit {

inline constexpr std::size_t kDest = 0;  // heap offsets
inline constexpr std::size_t kSource = std::size_t{2} << 20;

inline coll::Symmetric symmetric_at(const Node& node, std::size_t offset) {
  return {node.arena().heap(NodeIndex{0}) + offset, static_cast<std::int64_t>(node.arena().geometry().stride)};
}

inline std::size_t seed_of(int pe, int round) { return static_cast<std::size_t>(pe * 5 + round); }

inline void fill(const Node& node, int pe, std::size_t bytes, int round) {
  test_support::fill_pattern(node.at<unsigned char>(pe, kSource), bytes, seed_of(pe, round));
}

// dest[at, at + bytes) is a copy of [first, first + bytes) of the source of `from`.
struct Copied {
  std::size_t at, bytes;
  int from;
  std::size_t first = 0;
};

inline bool holds(const Node& node, int pe, const Copied& copied, int round) {
  const auto* const dest = node.at<unsigned char>(pe, kDest) + copied.at;
  return test_support::has_pattern(dest, copied.bytes, seed_of(copied.from, round), copied.first);
}

// Calls test(node, group, round, wrong) on all PEs of nodes of all sizes, with a barrier after each round.
template <class Test>
void rounds_on_nodes(int rounds, const Test& test) {
  const auto run = [&](const Node& node, bool counting) {
    Failures wrong;
    node.run([&](int pe) {
      coll::Team team = node.world_team(pe, counting);
      coll::TeamGroup group(team, "coll_test");
      for (int round = 0; round < rounds; ++round) {
        test(node, group, round, wrong);
        group.sync();
      }
    });
    BOOST_TEST_CONTEXT(node.size() << " PEs, counting " << counting) BOOST_CHECK_EQUAL(wrong.count(), 0);
  };
  for_each_node(run);
  for_each_tree(run);
}

}  // namespace shmemx::unit
