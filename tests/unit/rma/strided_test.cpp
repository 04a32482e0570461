#include "rma/strided.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "../../support/pattern.hpp"

BOOST_AUTO_TEST_SUITE(rma_strided)

namespace {

using shmemx::rma::copy_strided;
using shmemx::rma::Strided;

using Bytes = std::vector<unsigned char>;

// The reference: copies block i of the source to block i of the destination.
Bytes expected(const Bytes& before, const Bytes& source, const Strided& shape) {
  Bytes dest = before;
  for (std::size_t i = 0; i < shape.block_count; ++i) {
    for (std::size_t b = 0; b < shape.block_bytes; ++b)
      dest[i * shape.dest_step + b] = source[i * shape.source_step + b];
  }
  return dest;
}

}  // namespace

BOOST_AUTO_TEST_CASE(blocks_are_copied_to_their_strides_and_gaps_stay_unchanged) {
  const Bytes source = test_support::pattern(4096, 0);
  const Bytes before(4096, 0xee);
  for (const std::size_t bytes : {0, 1, 2, 3, 4, 5, 8, 12, 16, 24, 40, 64}) {
    for (const std::size_t count : {0, 1, 2, 7, 16}) {
      for (std::size_t dest_gap = 0; dest_gap < 4; ++dest_gap) {
        for (std::size_t source_gap = 0; source_gap < 4; ++source_gap) {
          const Strided shape{bytes, count, bytes * (dest_gap + 1), bytes * (source_gap + 1) + source_gap};
          Bytes dest = before;
          copy_strided(dest.data(), source.data(), shape);
          BOOST_TEST_CONTEXT(count << " blocks of " << bytes << " bytes, steps " << shape.dest_step << " and "
                                   << shape.source_step)
          BOOST_REQUIRE(dest == expected(before, source, shape));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(blocks_without_gaps_are_one_block) {
  using shmemx::rma::joined;
  for (const std::size_t bytes : {1, 8, 24}) {
    const Strided one = joined({bytes, 1000, bytes, bytes});
    BOOST_CHECK(one.block_count == 1 && one.block_bytes == 1000 * bytes && one.dest_step == 1000 * bytes);
    BOOST_CHECK_EQUAL(joined({bytes, 1000, bytes, bytes + 1}).block_count, 1000u);
    BOOST_CHECK_EQUAL(joined({bytes, 1000, 2 * bytes, bytes}).block_count, 1000u);
    const Strided single = joined({bytes, 1, 5 * bytes, bytes});  // its step leads to what follows
    BOOST_CHECK(single.block_count == 1 && single.dest_step == 5 * bytes);
  }
  BOOST_CHECK_EQUAL(joined({8, 0, 8, 8}).block_count, 0u);
}

BOOST_AUTO_TEST_CASE(elements_may_be_unaligned) {
  const Bytes source = test_support::pattern(600, 0);
  for (const std::size_t bytes : {2, 4, 8, 16}) {
    Bytes dest(600, 0xee);
    const Strided shape{bytes, 10, bytes + 1, bytes + 3};
    copy_strided(dest.data() + 1, source.data() + 1, shape);
    for (std::size_t i = 0; i < 10; ++i) {
      BOOST_CHECK(std::memcmp(&dest[1 + i * (bytes + 1)], &source[1 + i * (bytes + 3)], bytes) == 0);
      BOOST_CHECK_EQUAL(dest[1 + i * (bytes + 1) + bytes], 0xee);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
