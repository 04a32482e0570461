#include "../../support/pattern.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(support_pattern)

namespace {

using test_support::fill_pattern;
using test_support::has_pattern;
using test_support::pattern_byte;

constexpr std::size_t kBytes = 200'000;  // over three changes of the highest term
constexpr std::size_t kSeeds[] = {0, 1, 8, 255, 123'456'789, ~std::size_t{0}};

}  // namespace

BOOST_AUTO_TEST_CASE(each_byte_is_that_of_its_index) {
  for (const std::size_t seed : kSeeds) {
    const auto data = test_support::pattern(kBytes, seed);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < kBytes; ++i) wrong += data[i] != pattern_byte(seed, i);
    BOOST_CHECK_EQUAL(wrong, 0U);
  }
}

BOOST_AUTO_TEST_CASE(each_wrong_byte_is_found) {
  auto data = test_support::pattern(kBytes, 3);
  for (const std::size_t first : {0, 1, 250, 251, 65'535, 65'536, 131'000}) {
    BOOST_CHECK(has_pattern(data.data() + first, kBytes - first, 3, first));
    for (const std::size_t wrong : {first, first + 1, first + 251, kBytes - 1}) {
      data[wrong] ^= 0x80;
      BOOST_CHECK(!has_pattern(data.data() + first, kBytes - first, 3, first));
      data[wrong] ^= 0x80;
    }
    BOOST_CHECK(!has_pattern(data.data() + first, kBytes - first, 3, first + 1));
  }
  BOOST_CHECK(has_pattern(data.data(), 0, 4));
}

BOOST_AUTO_TEST_CASE(nothing_beside_the_data_is_written) {
  std::vector<std::byte> data(1000, std::byte{0xee});
  fill_pattern(data.data() + 100, 700, 5);
  BOOST_CHECK(has_pattern(data.data() + 100, 700, 5));
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (i < 100 || i >= 800) BOOST_CHECK(data[i] == std::byte{0xee});
  }
}

BOOST_AUTO_TEST_SUITE_END()
