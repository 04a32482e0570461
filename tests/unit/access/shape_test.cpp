#include "access/shape.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

using namespace shmemx::access;

BOOST_AUTO_TEST_SUITE(access_shape)

BOOST_AUTO_TEST_CASE(both_sides_are_cut_where_either_is) {
  std::byte window[100];
  std::byte local[30];
  const shmemx_iov_t targets[] = {{window + 10, 5}, {window + 3, 0}, {window + 50, 15}};
  const shmemx_iov_t locals[] = {{local, 8}, {local + 20, 10}, {local + 12, 2}};
  PairWalk walk(Side::list(targets, 3), Side::number(window), Side::list(locals, 3));
  const Pair expected[] = {
      {10, local, 5}, {50, local + 5, 3}, {53, local + 20, 7}, {60, local + 27, 3}, {63, local + 12, 2}};
  Pair pair{};
  for (const Pair& each : expected) {
    BOOST_REQUIRE(walk.next(pair, 7));
    BOOST_TEST(pair.offset == each.offset);
    BOOST_TEST(pair.local == each.local);
    BOOST_TEST(pair.bytes == each.bytes);
  }
  BOOST_TEST(!walk.next(pair));
}

BOOST_AUTO_TEST_CASE(totals_notice_overflow) {
  std::byte memory[8];
  const shmemx_iov_t huge[] = {{memory, ~std::size_t{0}}, {memory, 1}};
  std::uint64_t bytes = 0;
  BOOST_TEST(!Side::list(huge, 2).total(bytes));
  BOOST_TEST(!Side::strided(memory, 8, std::uint64_t{1} << 40, std::uint64_t{1} << 40).total(bytes));
  BOOST_TEST(Side::strided(memory, 8, 3, 5).total(bytes));
  BOOST_TEST(bytes == 15U);
  BOOST_TEST(Side::range(nullptr, 1).has_null());
  BOOST_TEST(!Side::range(nullptr, 0).has_null());
}

BOOST_AUTO_TEST_SUITE_END()
