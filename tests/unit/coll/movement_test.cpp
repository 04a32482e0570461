#include "coll/movement.hpp"

#include <boost/test/unit_test.hpp>

#include "support/crowd.hpp"

namespace {

using namespace shmemx;
using coll::Symmetric;
using coll::TeamGroup;
using unit::Complaints;
using unit::Node;

constexpr std::size_t kDest = 0;  // heap offsets
constexpr std::size_t kSource = std::size_t{2} << 20;

Symmetric symmetric_at(const Node& node, std::size_t offset) {
  return {node.arena().heap(0) + offset, static_cast<std::int64_t>(node.arena().geometry().stride)};
}

unsigned char value_of(int pe, std::size_t index, int round) {
  return static_cast<unsigned char>(static_cast<std::size_t>(pe * 37 + round * 11 + 1) + index * 3);
}

void fill(const Node& node, int pe, std::size_t bytes, int round) {
  auto* const source = node.at<unsigned char>(pe, kSource);
  for (std::size_t i = 0; i < bytes; ++i) source[i] = value_of(pe, i, round);
}

// dest[at, at + bytes) of `pe` is what `from` had at [first, first + bytes) of its source.
bool holds(const Node& node, int pe, std::size_t at, std::size_t bytes, int from, std::size_t first, int round) {
  const auto* const dest = node.at<unsigned char>(pe, kDest) + at;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (dest[i] != value_of(from, first + i, round)) return false;
  }
  return true;
}

// Runs body(group, pe, round) on all PEs of all crowds, with a barrier after each round.
template <class Body>
void rounds_on_crowds(int rounds, const Body& body) {
  unit::for_each_crowd([&](const Node& node, bool counting) {
    Complaints wrong;
    node.run([&](int pe) {
      coll::Team team = node.world_team(pe, counting);
      TeamGroup group(team, "movement_test");
      for (int round = 0; round < rounds; ++round) {
        body(node, group, round, wrong);
        group.sync();
      }
    });
    BOOST_TEST_CONTEXT(node.size() << " PEs, counting " << counting) BOOST_CHECK_EQUAL(wrong.count(), 0);
  });
}

void broadcast_and_check(const Node& node, TeamGroup& group, std::size_t bytes, int round, Complaints& wrong) {
  const int root = round % node.size();
  if (group.me() == root) fill(node, root, bytes, round);
  coll::broadcast(group, symmetric_at(node, kDest), symmetric_at(node, kSource), bytes, root);
  wrong.expect(holds(node, group.me(), 0, bytes, root, 0, round));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(coll_movement)

BOOST_AUTO_TEST_CASE(broadcasts_of_every_size_reach_everybody) {
  rounds_on_crowds(40, [](const Node& node, TeamGroup& group, int round, Complaints& wrong) {
    constexpr std::size_t kSizes[] = {8, 0, 1, 4096, coll::kPushBytes, coll::kPushBytes + 1, 40000};
    broadcast_and_check(node, group, kSizes[round % 7], round, wrong);
  });
}

BOOST_AUTO_TEST_CASE(many_pes_are_served_down_a_tree) {
  const unit::WaitingGuard guard(unit::crowded_policy());
  for (const int n_pes : {9, 12, 16}) {
    const Node node(n_pes);
    Complaints wrong;
    node.run([&](int pe) {
      coll::Team team = node.world_team(pe, true);
      TeamGroup group(team, "movement_test");
      for (int round = 0; round < 2 * n_pes; ++round) {
        broadcast_and_check(node, group, 100, round, wrong);
        group.sync();
      }
    });
    BOOST_TEST_CONTEXT(n_pes << " PEs") BOOST_CHECK_EQUAL(wrong.count(), 0);
  }
}

BOOST_AUTO_TEST_CASE(fcollect_concatenates_in_order) {
  rounds_on_crowds(40, [](const Node& node, TeamGroup& group, int round, Complaints& wrong) {
    const auto bytes = static_cast<std::size_t>(round * 13);
    fill(node, group.me(), bytes, round);
    coll::fcollect(group, symmetric_at(node, kDest), symmetric_at(node, kSource), bytes);
    for (int pe = 0; pe < node.size(); ++pe) {
      wrong.expect(holds(node, group.me(), static_cast<std::size_t>(pe) * bytes, bytes, pe, 0, round));
    }
  });
}

BOOST_AUTO_TEST_CASE(collect_concatenates_contributions_of_different_length) {
  rounds_on_crowds(40, [](const Node& node, TeamGroup& group, int round, Complaints& wrong) {
    const auto bytes_of = [round](int pe) { return static_cast<std::size_t>((pe * 29 + round * 7) % 50); };
    fill(node, group.me(), bytes_of(group.me()), round);
    coll::collect(
        group, [&](std::size_t) { return symmetric_at(node, kDest); }, symmetric_at(node, kSource).at(group.me()),
        bytes_of(group.me()));
    std::size_t at = 0;
    for (int pe = 0; pe < node.size(); ++pe) {
      wrong.expect(holds(node, group.me(), at, bytes_of(pe), pe, 0, round));
      at += bytes_of(pe);
    }
  });
}

BOOST_AUTO_TEST_CASE(alltoall_exchanges_blocks) {
  rounds_on_crowds(40, [](const Node& node, TeamGroup& group, int round, Complaints& wrong) {
    const auto bytes = static_cast<std::size_t>(round * 5);
    const auto me = static_cast<std::size_t>(group.me());
    fill(node, group.me(), bytes * static_cast<std::size_t>(node.size()), round);
    coll::alltoall(group, symmetric_at(node, kDest), symmetric_at(node, kSource), bytes);
    for (int pe = 0; pe < node.size(); ++pe) {
      wrong.expect(holds(node, group.me(), static_cast<std::size_t>(pe) * bytes, bytes, pe, me * bytes, round));
    }
  });
}

BOOST_AUTO_TEST_CASE(alltoalls_exchanges_blocks_with_strides) {
  rounds_on_crowds(20, [](const Node& node, TeamGroup& group, int round, Complaints& wrong) {
    const rma::Strided shape{4, static_cast<std::size_t>(round), 12, 8};
    const std::size_t dest_block = shape.block_count * shape.dest_step;
    const std::size_t source_block = shape.block_count * shape.source_step;
    const auto me = static_cast<std::size_t>(group.me());
    fill(node, group.me(), source_block * static_cast<std::size_t>(node.size()), round);
    coll::alltoalls(group, symmetric_at(node, kDest), symmetric_at(node, kSource), shape);
    for (int pe = 0; pe < node.size(); ++pe) {
      for (std::size_t i = 0; i < shape.block_count; ++i) {
        const std::size_t at = static_cast<std::size_t>(pe) * dest_block + i * shape.dest_step;
        wrong.expect(holds(node, group.me(), at, 4, pe, me * source_block + i * shape.source_step, round));
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(an_active_sets_broadcast_leaves_the_roots_dest_alone) {
  const unit::WaitingGuard guard(unit::crowded_policy());
  const Node node(3);
  Complaints wrong;
  node.run([&](int pe) {
    constexpr std::size_t kPsync = std::size_t{1} << 20;
    coll::ActiveGroup group(node.world(pe), "movement_test", node.world(pe).set, node.at<long>(pe, kPsync));
    for (int round = 1; round <= 50; ++round) {
      *node.at<unsigned char>(pe, kDest) = 0xee;
      fill(node, pe, 100, round);
      group.sync();  // dest is ready everywhere before anybody calls
      coll::broadcast(group, symmetric_at(node, kDest), symmetric_at(node, kSource), 100, 1);
      wrong.expect(pe == 1 ? *node.at<unsigned char>(pe, kDest) == 0xee : holds(node, pe, 0, 100, 1, 0, round));
    }
  });
  BOOST_CHECK_EQUAL(wrong.count(), 0);
}

BOOST_AUTO_TEST_SUITE_END()
