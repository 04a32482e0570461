#include "check/transfers.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(check_transfers)

namespace {

using shmemx::check::Blocks;
using shmemx::check::overlap;

char memory[256];

Blocks range(int at, std::uint64_t bytes) { return {memory + at, bytes}; }
Blocks every(std::uint64_t step, int at, std::uint64_t bytes, std::uint64_t count) {
  return {memory + at, bytes, count, step};
}

bool both_ways(const Blocks& a, const Blocks& b) {
  BOOST_CHECK_EQUAL(overlap(a, b), overlap(b, a));
  return overlap(a, b);
}

}  // namespace

BOOST_AUTO_TEST_CASE(ranges_overlap_in_a_byte) {
  BOOST_CHECK(both_ways(range(0, 16), range(15, 1)));
  BOOST_CHECK(both_ways(range(0, 16), range(0, 16)));
  BOOST_CHECK(!both_ways(range(0, 16), range(16, 16)));
  BOOST_CHECK(!both_ways(range(0, 16), range(8, 0)));
  BOOST_CHECK(!both_ways(range(0, 0), range(0, 0)));
}

BOOST_AUTO_TEST_CASE(blocks_may_lie_between_each_other) {
  BOOST_CHECK(!both_ways(every(16, 0, 8, 4), every(16, 8, 8, 4)));
  BOOST_CHECK(both_ways(every(16, 0, 8, 4), every(16, 7, 8, 4)));
  BOOST_CHECK(!both_ways(every(32, 0, 8, 4), every(16, 8, 8, 8)));
  BOOST_CHECK(both_ways(every(32, 0, 8, 4), every(24, 8, 8, 4)));  // at 32
  BOOST_CHECK(!both_ways(every(32, 0, 8, 4), range(40, 24)));
  BOOST_CHECK(both_ways(every(32, 0, 8, 4), range(40, 25)));
  BOOST_CHECK(!both_ways(every(32, 0, 8, 0), range(0, 64)));
}

BOOST_AUTO_TEST_SUITE_END()
