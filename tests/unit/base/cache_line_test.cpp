#include "base/cache_line.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdint>

BOOST_AUTO_TEST_SUITE(base_cache_line)

namespace {

using namespace shmemx;

static_assert(round_up(0, kPageBytes) == 0 && round_down(0, kPageBytes) == 0);
static_assert(round_up(1, kHugePageBytes) == kHugePageBytes);

}  // namespace

BOOST_AUTO_TEST_CASE(rounding_gives_the_nearest_multiple_on_its_side) {
  for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
    for (std::size_t value = 0; value < 9000; ++value) {
      const std::size_t rest = value % alignment;
      BOOST_REQUIRE_EQUAL(round_down(value, alignment), value - rest);
      BOOST_REQUIRE_EQUAL(round_up(value, alignment), rest == 0 ? value : value - rest + alignment);
    }
  }
}

BOOST_AUTO_TEST_CASE(rounding_is_exact_for_large_values) {
  constexpr std::size_t kBig = (std::size_t{1} << 62) + 12345;
  BOOST_CHECK_EQUAL(round_down(kBig, kPageBytes) % kPageBytes, 0U);
  BOOST_CHECK_EQUAL(round_up(kBig, kPageBytes) - round_down(kBig, kPageBytes), kPageBytes);
}

BOOST_AUTO_TEST_SUITE_END()
