// What the tests of collectives that move data share: a pattern for each PE's source, and the comparison of dests.
#pragma once

#include <boost/test/unit_test.hpp>

#include "coll/common/group.hpp"
#include "support/crowd.hpp"

namespace shmemx::unit {

inline constexpr std::size_t kDest = 0;  // heap offsets
inline constexpr std::size_t kSource = std::size_t{2} << 20;

inline coll::Symmetric symmetric_at(const Node& node, std::size_t offset) {
  return {node.arena().heap(0) + offset, static_cast<std::int64_t>(node.arena().geometry().stride)};
}

inline unsigned char value_of(int pe, std::size_t index, int round) {
  return static_cast<unsigned char>(static_cast<std::size_t>(pe * 37 + round * 11 + 1) + index * 3);
}

inline void fill(const Node& node, int pe, std::size_t bytes, int round) {
  auto* const source = node.at<unsigned char>(pe, kSource);
  for (std::size_t i = 0; i < bytes; ++i) source[i] = value_of(pe, i, round);
}

// Returns whether dest[at, at + bytes) of `pe` is what `from` had at [first, first + bytes) of its source.
inline bool holds(const Node& node, int pe, std::size_t at, std::size_t bytes, int from, std::size_t first, int round) {
  const auto* const dest = node.at<unsigned char>(pe, kDest) + at;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (dest[i] != value_of(from, first + i, round)) return false;
  }
  return true;
}

// Runs body(group, pe, round) on all PEs of all crowds, with a barrier after each round.
template <class Body>
void rounds_on_crowds(int rounds, const Body& body) {
  for_each_crowd([&](const Node& node, bool counting) {
    Complaints wrong;
    node.run([&](int pe) {
      coll::Team team = node.world_team(pe, counting);
      coll::TeamGroup group(team, "coll_test");
      for (int round = 0; round < rounds; ++round) {
        body(node, group, round, wrong);
        group.sync();
      }
    });
    BOOST_TEST_CONTEXT(node.size() << " PEs, counting " << counting) BOOST_CHECK_EQUAL(wrong.count(), 0);
  });
}

}  // namespace shmemx::unit
