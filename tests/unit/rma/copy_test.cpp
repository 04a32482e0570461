#include "rma/copy.hpp"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <thread>
#include <tuple>
#include <vector>

namespace {

namespace rma = shmemx::rma;

constexpr std::size_t kMargin = 16;

std::vector<unsigned char> pattern(std::size_t bytes) {
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<unsigned char>(i * 7 + i / 251 + 1);
  return data;
}

// A copy of `bytes` from `source` at the given offsets hits its range and nothing else.
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

class LargeCopyGuard {
 public:
  explicit LargeCopyGuard(std::size_t bytes) : before_(rma::large_copy_bytes) { rma::large_copy_bytes = bytes; }
  ~LargeCopyGuard() { rma::large_copy_bytes = before_; }

 private:
  std::size_t before_;
};

void check_small_sizes() {
  const auto source = pattern(400);
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

BOOST_AUTO_TEST_SUITE(rma_copy)

BOOST_AUTO_TEST_CASE(all_small_sizes_and_alignments_are_copied_exactly) { check_small_sizes(); }

BOOST_AUTO_TEST_CASE(the_large_path_copies_all_small_sizes_exactly_too) {
  const LargeCopyGuard guard(0);
  check_small_sizes();
}

BOOST_AUTO_TEST_CASE(sizes_around_the_threshold_are_copied_exactly) {
  const std::size_t threshold = rma::large_copy_bytes;
  const auto source = pattern(threshold + 5000);
  for (const std::size_t bytes : {threshold - 1, threshold, threshold + 1, threshold + 4097}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, std::size_t{7}}) {
      BOOST_CHECK(copies_exactly(source, bytes, offset, 0));
      BOOST_CHECK(copies_exactly(source, bytes, 0, offset));
    }
  }
}

// The copy is a plain store by design: what a program waits on is read by atomic loads on another CPU. That is outside
// the language's memory model, so this test says nothing under ThreadSanitizer.
#if !defined(__SANITIZE_THREAD__)
using Words = std::tuple<unsigned char, unsigned short, unsigned, unsigned long>;

BOOST_AUTO_TEST_CASE_TEMPLATE(a_word_is_never_seen_half_copied, T, Words) {
  const T ones = static_cast<T>(~T{0});
  // Straddles nothing: aligned in the middle of a cache line, the worst place for a copy by bytes.
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
