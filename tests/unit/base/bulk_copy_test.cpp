#include "base/bulk_copy.hpp"

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "../../support/pattern.hpp"
#include "copy_sizes_guard.hpp"

BOOST_AUTO_TEST_SUITE(base_bulk_copy)

namespace {

namespace copies = shmemx;
using test_support::pattern;
using unit::CopySizesGuard;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMargin = 256;  // more than any loop writes at once
constexpr std::size_t kMostBytes = 70'000;
constexpr unsigned char kUntouched = 0xee;

// Source and dest at any distance modulo a page. Bytes around the copy are checked too.
class Buffers {
 public:
  explicit Buffers(std::size_t most_bytes)
      : source_(pattern(most_bytes + 2 * kPage, 0)), dest_(most_bytes + 4 * kPage, kUntouched) {}

  // Returns true if the copy writes its range and no other byte.
  template <class Copy>
  bool copies_exactly(Copy copy, std::size_t bytes, std::size_t source_offset, std::size_t distance) {
    const unsigned char* const from = source_.data() + source_offset;
    unsigned char* const to = at_distance(from, distance);
    copy(to, from, bytes);
    const bool right = std::memcmp(to, from, bytes) == 0 && is_untouched(to - kMargin) && is_untouched(to + bytes);
    std::memset(to - kMargin, kUntouched, bytes + 2 * kMargin);
    return right;
  }

 private:
  unsigned char* at_distance(const unsigned char* from, std::size_t distance) {
    unsigned char* const lowest = dest_.data() + kMargin;
    const std::size_t now = reinterpret_cast<std::uintptr_t>(lowest) - reinterpret_cast<std::uintptr_t>(from);
    return lowest + (distance - now) % kPage;
  }
  static bool is_untouched(const unsigned char* at) {
    for (std::size_t i = 0; i < kMargin; ++i) {
      if (at[i] != kUntouched) return false;
    }
    return true;
  }

  std::vector<unsigned char> source_;
  std::vector<unsigned char> dest_;
};

struct Loop {
  std::string name;
  copies::CopyLoop copy;
  bool is_up;
};

// The loops of this processor, and the stores past the caches.
std::vector<Loop> all_loops() {
  std::vector<Loop> all{{"past the caches", copies::copy_stream, true}};
  for (const auto& loops : copies::copy_loops()) {
    all.push_back({std::string(loops.name) + " up", loops.up, true});
    all.push_back({std::string(loops.name) + " down", loops.down, false});
  }
  return all;
}

std::vector<std::size_t> all_distances() {
  std::vector<std::size_t> distances(65);
  std::iota(distances.begin(), distances.end(), 0);
  distances.push_back(kPage / 2);
  for (std::size_t distance = kPage - 16; distance < kPage; ++distance) distances.push_back(distance);
  return distances;
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_loop_copies_all_sizes_and_alignments_exactly) {
  Buffers buffers(1024);
  for (const auto& loop : all_loops()) {
    for (std::size_t bytes = 0; bytes <= 700; bytes += bytes < 300 ? 1 : 37) {
      for (std::size_t offset = 0; offset < 64; offset += 7) {
        for (std::size_t distance = 0; distance < 64; distance += 3) {
          BOOST_TEST_CONTEXT(loop.name << ": " << bytes << " bytes from " << offset << ", distance " << distance)
          BOOST_REQUIRE(buffers.copies_exactly(loop.copy, bytes, offset, distance));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(each_loop_copies_at_all_distances_exactly) {
  Buffers buffers(kMostBytes);
  for (const auto& loop : all_loops()) {
    for (const std::size_t bytes : {1024U, 3000U, 4096U, 12'001U}) {
      for (const std::size_t distance : all_distances()) {
        for (const std::size_t offset : {0U, 5U, 63U}) {
          BOOST_TEST_CONTEXT(loop.name << ": " << bytes << " bytes from " << offset << ", distance " << distance)
          BOOST_REQUIRE(buffers.copies_exactly(loop.copy, bytes, offset, distance));
        }
      }
    }
  }
}

// A loop upwards may have a dest that overlaps the source from below by any length, a loop downwards one from above; at
// distance 0 both are the same.
BOOST_AUTO_TEST_CASE(each_loop_copies_onto_its_own_source) {
  const auto content = pattern(12'000, 0);
  for (const auto& loop : all_loops()) {
    for (const std::size_t bytes : {0U, 1U, 63U, 64U, 127U, 128U, 129U, 200U, 1024U, 6000U}) {
      for (const std::size_t by : {0U, 1U, 5U, 16U, 31U, 32U, 33U, 64U, 100U, 128U, 500U, 4091U, 4096U, 5000U}) {
        auto memory = content;
        auto expected = content;
        const std::size_t from = 11 + (loop.is_up ? by : 0);
        const std::size_t to = 11 + (loop.is_up ? 0 : by);
        std::memmove(expected.data() + to, expected.data() + from, bytes);
        loop.copy(memory.data() + to, memory.data() + from, bytes);
        BOOST_TEST_CONTEXT(loop.name << ": " << bytes << " bytes, by " << by)
        BOOST_REQUIRE(memory == expected);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(sizes_around_the_thresholds_are_copied_exactly) {
  constexpr std::size_t kStream = 32'768;
  for (const auto& loops : copies::copy_loops()) {
    const CopySizesGuard guard({1024, kStream, loops});
    Buffers buffers(kMostBytes);
    for (const std::size_t around : {std::size_t{1024}, std::size_t{2048}, kStream, kStream + kPage}) {
      for (const std::size_t bytes : {around - 1, around, around + 1}) {
        for (const std::size_t distance : {0U, 1U, 15U, 16U, 48U, 4080U}) {
          BOOST_TEST_CONTEXT(loops.name << ": " << bytes << " bytes, distance " << distance)
          BOOST_CHECK(buffers.copies_exactly(copies::copy_block, bytes, 5, distance));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(payloads_of_all_sizes_are_copied_exactly) {
  const auto payload_of = [](void* to, const void* from, std::size_t bytes) {
    copies::copy_payload(static_cast<std::byte*>(to), {static_cast<const std::byte*>(from), bytes});
  };
  Buffers buffers(4096);
  for (const std::size_t bytes : {0U, 1U, 7U, 8U, 9U, 100U, 1023U, 1024U, 3000U}) {
    BOOST_CHECK(buffers.copies_exactly(payload_of, bytes, 3, 9));
  }
}

BOOST_AUTO_TEST_CASE(stores_past_the_caches_begin_when_two_thirds_of_a_cache_are_filled) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  BOOST_CHECK_EQUAL(copies::copy_sizes_for(30 * kMiB).stream_bytes, 10 * kMiB);
  BOOST_CHECK_EQUAL(copies::copy_sizes_for(64 * kMiB).stream_bytes, 64 * kMiB / 3);
  BOOST_CHECK_EQUAL(copies::copy_sizes_for(kMiB / 2).stream_bytes, kMiB);
  // Not known, or that of many cores.
  BOOST_CHECK_EQUAL(copies::copy_sizes_for(0).stream_bytes, 4 * kMiB);
  BOOST_CHECK_EQUAL(copies::copy_sizes_for(105 * kMiB).stream_bytes, 4 * kMiB);
}

// Sanitizers check calls of the C library as a whole, so there are no loops.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// A loop that follows the stores of its own last step waits for them (docs/decisions/0014-large-copies.md).
BOOST_AUTO_TEST_CASE(a_dest_a_little_above_its_source_modulo_a_page_is_copied_downwards) {
  static bool went_down;
  const CopySizesGuard guard({1024,
                              1U << 20,
                              {"", [](void*, const void*, std::size_t) noexcept { went_down = false; },
                               [](void*, const void*, std::size_t) noexcept { went_down = true; }}});
  std::vector<unsigned char> memory(8 * kPage);
  for (const std::size_t distance : {0U, 1U, 100U, 2047U, 2048U, 4000U, 4095U}) {
    copies::copy_block(memory.data() + 2 * kPage + distance, memory.data(), 1024);
    BOOST_CHECK_EQUAL(went_down, distance < kPage / 2);
    copies::copy_block(memory.data(), memory.data() + 2 * kPage + distance, 1024);
    BOOST_CHECK_EQUAL(went_down, (kPage - distance) % kPage < kPage / 2);
    copies::copy_large_up(memory.data() + distance, memory.data(), 1024);
    BOOST_CHECK(!went_down);
  }
}
#endif

BOOST_AUTO_TEST_CASE(the_last_loops_are_the_ones_that_are_used) {
  const auto loops = copies::copy_loops();
  BOOST_REQUIRE(!loops.empty());
  BOOST_CHECK(copies::copy_sizes_for(0).loops.up == loops.back().up);
#if defined(__x86_64__)
  BOOST_CHECK_EQUAL(loops.size(), __builtin_cpu_supports("avx2") ? 2U : 1U);
#endif
}

BOOST_AUTO_TEST_SUITE_END()
