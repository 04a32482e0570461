#include "rma/copy.hpp"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <thread>
#include <tuple>
#include <vector>

#include "../../support/pattern.hpp"
#include "copy_sizes_guard.hpp"

BOOST_AUTO_TEST_SUITE(rma_copy)

namespace {

namespace rma = shmemx::rma;
using shmemx::CopySizes;
using unit::CopySizesGuard;

constexpr std::size_t kMargin = 16;

// Checks that a copy of `bytes` at the given offsets writes its range and no other byte.
bool copies_exactly(const std::vector<unsigned char>& source, std::size_t bytes, std::size_t dest_offset,
                    std::size_t source_offset) {
  const std::size_t at = kMargin + dest_offset;
  std::vector<unsigned char> dest(at + bytes + kMargin, 0xee);
  rma::copy(dest.data() + at, source.data() + source_offset, bytes);
  for (std::size_t i = 0; i < kMargin; ++i) {
    if (dest[at - 1 - i] != 0xee || dest[at + bytes + i] != 0xee) return false;
  }
  return std::memcmp(dest.data() + at, source.data() + source_offset, bytes) == 0;
}

constexpr std::size_t kNever = ~std::size_t{0};

void check_small_sizes() {
  const auto source = test_support::pattern(400, 0);
  for (std::size_t bytes = 0; bytes <= 300; ++bytes) {
    for (std::size_t dest_offset = 0; dest_offset < 16; ++dest_offset) {
      for (std::size_t source_offset = 0; source_offset < 16; ++source_offset) {
        BOOST_TEST_CONTEXT(bytes << " bytes, offsets " << dest_offset << " and " << source_offset)
        BOOST_REQUIRE(copies_exactly(source, bytes, dest_offset, source_offset));
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(all_small_sizes_and_alignments_are_copied_exactly) { check_small_sizes(); }

// A user may set any thresholds.
BOOST_AUTO_TEST_CASE(the_other_paths_copy_all_small_sizes_exactly) {
  for (const CopySizes sizes : {CopySizes{kNever, kNever}, CopySizes{0, kNever}, CopySizes{0, 0}}) {
    const CopySizesGuard guard(sizes);
    check_small_sizes();
  }
}

BOOST_AUTO_TEST_CASE(sizes_around_the_thresholds_are_copied_exactly) {
  constexpr std::size_t kLarge = 4096;
  constexpr std::size_t kStream = 65536;
  const CopySizesGuard guard({kLarge, kStream, shmemx::copy_loops().back()});
  const auto source = test_support::pattern(2 * kStream + 64, 0);
  for (const std::size_t around : {kLarge, kStream, kStream + 16384, 2 * kStream - 1}) {
    for (const std::size_t bytes : {around - 1, around, around + 1}) {
      for (const std::size_t offset :
           {std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{16}, std::size_t{63}}) {
        BOOST_TEST_CONTEXT(bytes << " bytes, offset " << offset) {
          BOOST_CHECK(copies_exactly(source, bytes, offset, 0));
          BOOST_CHECK(copies_exactly(source, bytes, 0, offset));
        }
      }
    }
  }
}

// Blocks that overlap, in both directions, on either side of the thresholds.
BOOST_AUTO_TEST_CASE(overlapping_blocks_move_unharmed) {
  const CopySizesGuard guard({1024, 20'000, shmemx::copy_loops().back()});
  const auto content = test_support::pattern(40'000, 0);
  for (const std::size_t bytes : {1U, 8U, 9U, 200U, 1023U, 1024U, 6000U, 25'000U}) {
    for (const std::size_t by : {0U, 1U, 5U, 8U, 31U, 64U, 100U, 1500U, 4091U, 4101U}) {
      for (const bool up : {false, true}) {
        auto memory = content;
        auto expected = content;
        const std::size_t to = up ? by : 0;
        const std::size_t from = up ? 0 : by;
        std::memmove(expected.data() + to, expected.data() + from, bytes);
        rma::move_visible(memory.data() + to, memory.data() + from, bytes);
        BOOST_TEST_CONTEXT(bytes << " bytes, " << (up ? "up" : "down") << " by " << by)
        BOOST_CHECK(memory == expected);
      }
    }
  }
}

// The copy is a plain store by design, while a program that waits reads with atomic loads on another CPU. That is
// outside the language's memory model, so this test does not run under ThreadSanitizer.
#if !defined(__SANITIZE_THREAD__)
using Words = std::tuple<unsigned char, unsigned short, unsigned, unsigned long>;

BOOST_AUTO_TEST_CASE_TEMPLATE(a_word_is_never_seen_half_copied, T, Words) {
  const T ones = static_cast<T>(~T{0});
  // Aligned, and in the middle of a cache line: the worst position for a copy by bytes.
  alignas(64) T line[64 / sizeof(T)] = {};
  T* const shared = &line[64 / sizeof(T) / 2];
  std::atomic<bool> stop{false};
  long torn = 0;
  long changes = 0;
  std::thread reader([&] {
    T last = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      const T seen = __atomic_load_n(shared, __ATOMIC_RELAXED);
      if (seen != 0 && seen != ones) ++torn;
      if (seen != last) ++changes;
      last = seen;
    }
  });
  volatile std::size_t bytes = sizeof(T);  // as in a put: not known to the compiler
  for (int i = 0; i < 2'000'000; ++i) {
    const T value = (i & 1) != 0 ? ones : T{0};
    rma::copy(shared, &value, bytes);
  }
  stop = true;
  reader.join();
  BOOST_CHECK_EQUAL(torn, 0);
  BOOST_TEST_MESSAGE(changes << " changes seen");
}
#endif

BOOST_AUTO_TEST_SUITE_END()
