#include "nemesis/cell_credits.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "node_memory.hpp"

BOOST_AUTO_TEST_SUITE(nemesis_cell_credits)

namespace {

using namespace shmemx::nemesis;
using queue_test::NodeMemory;

constexpr std::size_t kCells = 16;  // so 2 are reserved for replies, and a peer may hold 10

struct Fixture {
  explicit Fixture(std::size_t cells = kCells) : memory(4, 512, cells) { credits.open(memory.parts, 0, in_use); }
  // Returns the number of cells that could be taken, at most `count`.
  std::size_t take(int pe, CellUse use, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      Cell* const cell = credits.try_take(pe, use);
      if (cell == nullptr) return i;
      CellHeader::of(cell).target = static_cast<std::uint16_t>(pe);
      taken.push_back(cell);
    }
    return count;
  }
  void give_back(std::size_t count) {
    for (; count != 0; --count) {
      memory.parts.control(0).free.enqueue(taken.front());
      taken.erase(taken.begin());
    }
  }

  NodeMemory memory;
  std::vector<std::uint32_t> in_use = std::vector<std::uint32_t>(4);
  CellCredits credits;
  std::vector<Cell*> taken;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_peer_may_hold_a_part_of_the_cells) {
  Fixture f;
  BOOST_CHECK_EQUAL(f.take(1, CellUse::request, 99), 10u);
  BOOST_CHECK_EQUAL(f.take(2, CellUse::request, 99), 4u);
  f.give_back(3);  // of PE 1
  BOOST_CHECK_EQUAL(f.take(1, CellUse::request, 99), 3u);
}

BOOST_AUTO_TEST_CASE(the_reserve_is_for_replies) {
  Fixture f;
  f.take(1, CellUse::request, 7);
  f.take(2, CellUse::request, 7);
  BOOST_CHECK_EQUAL(f.take(3, CellUse::request, 1), 0u);
  BOOST_CHECK_EQUAL(f.take(3, CellUse::reply, 99), 2u);
  BOOST_CHECK_EQUAL(f.take(1, CellUse::reply, 1), 0u);
  f.give_back(1);
  BOOST_CHECK_EQUAL(f.take(1, CellUse::request, 1), 0u);
  BOOST_CHECK_EQUAL(f.take(1, CellUse::reply, 1), 1u);
}

BOOST_AUTO_TEST_CASE(all_cells_come_back_and_are_different) {
  Fixture f;
  for (int round = 0; round < 50; ++round) {
    const std::size_t count = f.take(round % 3 + 1, CellUse::reply, static_cast<std::size_t>(round) % kCells + 1);
    BOOST_CHECK_EQUAL(count, static_cast<std::size_t>(round) % kCells + 1);
    std::vector<Cell*> sorted = f.taken;
    std::sort(sorted.begin(), sorted.end());
    BOOST_CHECK(std::unique(sorted.begin(), sorted.end()) == sorted.end());
    f.give_back(count);
  }
  BOOST_CHECK_EQUAL(f.take(1, CellUse::reply, 99), kCells);
}

BOOST_AUTO_TEST_CASE(two_cells_are_enough) {
  Fixture f(2);
  BOOST_CHECK_EQUAL(f.take(1, CellUse::request, 2), 1u);
  BOOST_CHECK_EQUAL(f.take(2, CellUse::reply, 2), 1u);
  f.give_back(2);
  BOOST_CHECK_EQUAL(f.take(2, CellUse::request, 2), 1u);
}

BOOST_AUTO_TEST_SUITE_END()
