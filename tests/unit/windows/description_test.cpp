#include "windows/description.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>

BOOST_AUTO_TEST_SUITE(windows_description)

using namespace shmemx::windows;

namespace {
Description some_description() {
  Description description{};
  description.kind = Kind::allocated;
  description.owner = 3;
  description.name = {7, 2};
  description.base = 0x7000'0000;
  description.bytes = 100;
  return description;
}
constexpr std::uint64_t kKey = 0x1234'5678'9abc'def0;
}  // namespace

BOOST_AUTO_TEST_CASE(any_changed_bit_breaks_the_seal) {
  Description description = some_description();
  seal(description, kKey);
  BOOST_TEST(is_sealed(description, kKey, 4));
  unsigned char bytes[sizeof description];
  std::memcpy(bytes, &description, sizeof bytes);
  for (std::size_t bit = 0; bit < sizeof bytes * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
    Description changed{};
    std::memcpy(&changed, bytes, sizeof bytes);
    BOOST_TEST(!is_sealed(changed, kKey, 4), "bit " << bit);
    bytes[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
  }
}

BOOST_AUTO_TEST_CASE(another_job_and_a_pe_out_of_range_are_refused) {
  Description description = some_description();
  seal(description, kKey);
  BOOST_TEST(!is_sealed(description, kKey + 1, 4));
  BOOST_TEST(!is_sealed(description, kKey, 3));
  description.owner = -1;
  seal(description, kKey);
  BOOST_TEST(!is_sealed(description, kKey, 4));
}

BOOST_AUTO_TEST_SUITE_END()
