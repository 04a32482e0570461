#include "heap/block_allocator.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <vector>

BOOST_AUTO_TEST_SUITE(heap_block_allocator)

namespace {

using namespace shmemx::heap;

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* const text = std::getenv("SHMEMX_TEST_SEED");
    const std::uint64_t chosen = text ? std::strtoull(text, nullptr, 10) : std::random_device{}();
    std::printf("seed %llu (SHMEMX_TEST_SEED repeats it)\n", static_cast<unsigned long long>(chosen));
    return chosen;
  }();
  return value;
}

// The same random requests for the allocator and the model: sizes from bytes to megabytes, alignments up to 2 MiB.
class Requests {
 public:
  explicit Requests(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t bound) { return random_() % bound; }
  std::size_t bytes() { return 1 + random_() % (std::size_t{1} << (4 + random_() % 15)); }
  std::size_t alignment() { return random_() % 4 == 0 ? std::size_t{1} << (random_() % 22) : kGranularity; }

 private:
  std::mt19937_64 random_;
};

// A model of the heap: allocated blocks by offset.
class Shadow {
 public:
  explicit Shadow(std::size_t capacity) : capacity_(capacity) {}

  void add(Offset offset, std::size_t bytes) {
    BOOST_REQUIRE_LE(offset + bytes, capacity_);
    const auto next = live_.lower_bound(offset);
    if (next != live_.end()) BOOST_REQUIRE_LE(offset + bytes, next->first);
    if (next != live_.begin()) BOOST_REQUIRE_LE(std::prev(next)->first + std::prev(next)->second, offset);
    live_.emplace_hint(next, offset, bytes);
  }
  void remove(Offset offset) { BOOST_REQUIRE_EQUAL(live_.erase(offset), 1U); }

  std::size_t used() const {
    std::size_t sum = 0;
    for (const auto& [offset, bytes] : live_) sum += bytes;
    return sum;
  }
  // Returns the longest run of free bytes that begins at an aligned offset.
  std::size_t largest_gap(std::size_t alignment) const {
    std::size_t largest = 0;
    Offset at = 0;
    const auto look = [&](Offset end) {
      const Offset start = (at + alignment - 1) & ~(alignment - 1);
      if (end > start) largest = std::max<std::size_t>(largest, end - start);
    };
    for (const auto& [offset, bytes] : live_) {
      look(offset);
      at = offset + bytes;
    }
    look(capacity_);
    return largest;
  }
  std::size_t count() const { return live_.size(); }

 private:
  std::size_t capacity_;
  std::map<Offset, std::size_t> live_;
};

void check_usage(const BlockAllocator& heap, const Shadow& shadow) {
  const Usage usage = heap.usage();
  BOOST_REQUIRE_EQUAL(usage.used, shadow.used());
  BOOST_REQUIRE_EQUAL(usage.live_blocks, shadow.count());
  BOOST_REQUIRE_EQUAL(usage.largest_free, shadow.largest_gap(1));
  BOOST_REQUIRE_GE(usage.high_water, usage.used);
}

void check_is_empty(const BlockAllocator& heap, std::size_t capacity) {
  const Usage usage = heap.usage();
  BOOST_CHECK_EQUAL(usage.capacity, capacity);
  BOOST_CHECK_EQUAL(usage.used, 0U);
  BOOST_CHECK_EQUAL(usage.live_blocks, 0U);
  BOOST_CHECK_EQUAL(usage.largest_free, capacity);
}

}  // namespace

BOOST_AUTO_TEST_CASE(blocks_never_overlap_and_a_request_fails_only_when_nothing_fits) {
  constexpr std::size_t capacity = 8 * kMiB;
  BlockAllocator heap(capacity);
  Shadow shadow(capacity);
  Requests requests(seed());
  std::vector<Offset> live;
  std::size_t refused = 0;
  for (int step = 0; step < 20000; ++step) {
    const std::size_t action = requests.below(100);
    if (action < 52 || live.empty()) {
      const std::size_t bytes = requests.bytes();
      const std::size_t alignment = requests.alignment();
      if (const auto offset = heap.allocate(bytes, alignment)) {
        BOOST_REQUIRE_EQUAL(*offset % std::max(alignment, kGranularity), 0U);
        BOOST_REQUIRE_GE(*heap.size_of(*offset), bytes);
        BOOST_REQUIRE_LT(*heap.size_of(*offset), bytes + kGranularity);
        shadow.add(*offset, *heap.size_of(*offset));
        live.push_back(*offset);
      } else {
        ++refused;
        BOOST_REQUIRE_LT(shadow.largest_gap(std::max(alignment, kGranularity)), bytes);
      }
    } else {
      std::swap(live[requests.below(live.size())], live.back());
      const Offset offset = live.back();
      if (action < 90) {
        BOOST_REQUIRE(heap.release(offset));
        shadow.remove(offset);
        live.pop_back();
      } else if (const std::size_t bytes = requests.bytes(); heap.resize_in_place(offset, bytes)) {
        shadow.remove(offset);
        BOOST_REQUIRE_GE(*heap.size_of(offset), bytes);
        shadow.add(offset, *heap.size_of(offset));
      }
    }
    if (step % 64 == 0) check_usage(heap, shadow);
  }
  BOOST_TEST_MESSAGE(refused << " requests refused, each rightly");
  for (const Offset offset : live) BOOST_REQUIRE(heap.release(offset));
  check_is_empty(heap, capacity);
}

BOOST_AUTO_TEST_CASE(the_same_calls_give_the_same_offsets) {
  constexpr std::size_t capacity = 64 * kMiB;
  BlockAllocator here(capacity);
  BlockAllocator there(capacity);
  std::vector<void*> noise;  // the private malloc calls of PEs differ
  Requests requests(seed());
  std::vector<Offset> live;
  for (int step = 0; step < 100000; ++step) {
    if (step % 1000 == 0) noise.push_back(std::malloc(static_cast<std::size_t>(step) + 1));
    if (requests.below(100) < 55 || live.empty()) {
      const std::size_t bytes = requests.bytes();
      const std::size_t alignment = requests.alignment();
      const auto offset = here.allocate(bytes, alignment);
      BOOST_REQUIRE(offset == there.allocate(bytes, alignment));
      if (offset) live.push_back(*offset);
    } else {
      std::swap(live[requests.below(live.size())], live.back());
      if (requests.below(8) == 0) {
        const std::size_t bytes = requests.bytes();
        BOOST_REQUIRE_EQUAL(here.resize_in_place(live.back(), bytes), there.resize_in_place(live.back(), bytes));
      } else {
        BOOST_REQUIRE(here.release(live.back()) && there.release(live.back()));
        live.pop_back();
      }
    }
  }
  BOOST_CHECK_EQUAL(here.usage().used, there.usage().used);
  BOOST_CHECK_EQUAL(here.usage().high_water, there.usage().high_water);
  for (void* const block : noise) std::free(block);
}

BOOST_AUTO_TEST_CASE(neighbours_grow_together_in_every_order_of_release) {
  std::vector<int> order = {0, 1, 2, 3, 4};
  do {
    BlockAllocator heap(5 * 64);
    std::vector<Offset> blocks;
    for (int i = 0; i < 5; ++i) blocks.push_back(*heap.allocate(64));
    BOOST_CHECK(!heap.allocate(1));
    for (const int i : order) BOOST_REQUIRE(heap.release(blocks[static_cast<std::size_t>(i)]));
    check_is_empty(heap, 5 * 64);
    BOOST_REQUIRE(heap.allocate(5 * 64) == Offset{0});
  } while (std::next_permutation(order.begin(), order.end()));
}

BOOST_AUTO_TEST_CASE(the_smallest_hole_that_fits_is_used_the_lowest_among_equals) {
  BlockAllocator heap(kMiB);
  const auto a = heap.allocate(256), wall1 = heap.allocate(16), b = heap.allocate(64), wall2 = heap.allocate(16),
             c = heap.allocate(64), wall3 = heap.allocate(16);
  BOOST_REQUIRE(a && wall1 && b && wall2 && c && wall3);
  BOOST_REQUIRE(heap.release(*c) && heap.release(*a) && heap.release(*b));
  BOOST_CHECK(heap.allocate(64) == b);
  BOOST_CHECK(heap.allocate(50) == c);
  BOOST_CHECK(heap.allocate(64) == a);
}

BOOST_AUTO_TEST_CASE(alignments_hold_up_to_that_of_the_base_and_not_above) {
  BlockAllocator heap(64 * kMiB);
  BOOST_REQUIRE(heap.allocate(1));
  for (std::size_t alignment = 1; alignment <= 2 * kMiB; alignment *= 2) {
    const auto offset = heap.allocate(24, alignment);
    BOOST_REQUIRE(offset);
    BOOST_CHECK_EQUAL(*offset % std::max(alignment, kGranularity), 0U);
  }
  BOOST_CHECK(!heap.allocate(24, 4 * kMiB));
  BlockAllocator far_aligned(64 * kMiB, std::size_t{1} << 30);
  BOOST_REQUIRE(far_aligned.allocate(1));
  BOOST_CHECK(far_aligned.allocate(24, 32 * kMiB) == Offset{32 * kMiB});
  BOOST_CHECK(!far_aligned.allocate(24, 64 * kMiB));  // only offset 0 is aligned
}

BOOST_AUTO_TEST_CASE(an_aligned_request_finds_the_only_block_that_fits_behind_many_that_do_not) {
  // 40 holes of 4096 bytes whose starts are odd multiples of 16, and one of 4096 that is aligned, but smaller than the
  // size that would fit at any offset.
  BlockAllocator heap(kMiB);
  std::vector<Offset> holes;
  BOOST_REQUIRE(heap.allocate(16));
  for (int i = 0; i < 40; ++i) {
    holes.push_back(*heap.allocate(4096));
    BOOST_REQUIRE(heap.allocate(4096));
  }
  const auto aligned = heap.allocate(4096 + 32, 4096);
  BOOST_REQUIRE(aligned);
  while (heap.allocate(16)) {
  }
  for (const Offset hole : holes) BOOST_REQUIRE(heap.release(hole));
  BOOST_CHECK(!heap.allocate(4096, 4096));
  BOOST_REQUIRE(heap.release(*aligned));
  BOOST_CHECK(heap.allocate(4096, 4096) == aligned);
}

BOOST_AUTO_TEST_CASE(a_request_that_does_not_fit_is_refused_and_changes_nothing) {
  BlockAllocator heap(4096);
  BOOST_CHECK(!heap.allocate(4097));
  BOOST_CHECK(!heap.allocate(~std::size_t{0}));
  BOOST_CHECK(!heap.allocate(~std::size_t{0} - 8, 4096));
  check_is_empty(heap, 4096);
  BOOST_CHECK(heap.allocate(4096) == Offset{0});
  BOOST_CHECK(!heap.allocate(1));
  BOOST_CHECK_EQUAL(heap.usage().largest_free, 0U);
  BOOST_CHECK(heap.release(0));
  check_is_empty(heap, 4096);
  for (const std::size_t capacity : {std::size_t{0}, std::size_t{15}}) {
    BlockAllocator none(capacity);
    check_is_empty(none, 0);
    BOOST_CHECK(!none.allocate(1) && !none.allocate(0) && !none.find(0) && !none.release(0));
  }
  BlockAllocator odd(4096 + 15);
  BOOST_CHECK_EQUAL(odd.usage().capacity, 4096U);
}

BOOST_AUTO_TEST_CASE(a_heap_of_a_terabyte_takes_no_memory_until_it_is_used) {
  BlockAllocator heap(std::size_t{1} << 46);
  BOOST_CHECK(heap.allocate(std::size_t{1} << 45) == Offset{0});
  BOOST_CHECK(heap.allocate(1) == Offset{std::size_t{1} << 45});
}

BOOST_AUTO_TEST_CASE(a_double_free_and_a_wrong_offset_are_refused_with_different_errors) {
  BlockAllocator heap(4096);
  const Offset first = *heap.allocate(64);
  const Offset second = *heap.allocate(64);
  BOOST_CHECK(heap.release(first));
  BOOST_CHECK(!heap.release(first));
  BOOST_CHECK(!heap.release(second + 16));
  BOOST_CHECK(!heap.release(second + 1));
  BOOST_CHECK(!heap.release(4096));
  BOOST_CHECK(!heap.release(~Offset{0}));
  BOOST_CHECK(!heap.size_of(first) && !heap.size_of(second + 16));
  BOOST_CHECK_EQUAL(heap.usage().used, 64U);

  const auto freed = heap.find(first + 5);
  BOOST_REQUIRE(freed);
  BOOST_CHECK(!freed->live && freed->offset == first && freed->bytes == 64);
  const auto inside = heap.find(second + 63);
  BOOST_REQUIRE(inside);
  BOOST_CHECK(inside->live && inside->offset == second && inside->bytes == 64);
  BOOST_CHECK(!heap.find(4096));
}

BOOST_AUTO_TEST_CASE(a_block_grows_into_free_room_behind_it_and_shrinks) {
  BlockAllocator heap(4096);
  const Offset a = *heap.allocate(64);
  const Offset b = *heap.allocate(64);
  BOOST_CHECK(!heap.resize_in_place(a, 80));  // b is behind it
  BOOST_CHECK(heap.resize_in_place(a, 60));   // stays in its 64 bytes
  BOOST_CHECK_EQUAL(*heap.size_of(a), 64U);
  BOOST_CHECK(heap.resize_in_place(a, 17));
  BOOST_CHECK_EQUAL(*heap.size_of(a), 32U);
  BOOST_CHECK(heap.allocate(32) == Offset{a + 32});  // released by a
  BOOST_CHECK(heap.release(b));
  BOOST_CHECK(heap.resize_in_place(a + 32, 4096 - 32));  // exactly all that is left
  BOOST_CHECK_EQUAL(heap.usage().largest_free, 0U);
  BOOST_CHECK(!heap.resize_in_place(a + 32, 4096));
  BOOST_CHECK(!heap.resize_in_place(a + 32, ~std::size_t{0}));
  BOOST_CHECK(heap.resize_in_place(a + 32, 16));
  BOOST_CHECK_EQUAL(heap.usage().largest_free, 4096U - 48);
  BOOST_CHECK(!heap.resize_in_place(b, 16));
  BOOST_CHECK_EQUAL(heap.usage().high_water, 4096U);
}

BOOST_AUTO_TEST_CASE(usage_reports_current_and_peak_bytes) {
  BlockAllocator heap(4096);
  const Offset a = *heap.allocate(100);  // 112 with rounding
  const Offset b = *heap.allocate(16, 256);
  BOOST_CHECK_EQUAL(b, 256U);
  Usage usage = heap.usage();
  BOOST_CHECK_EQUAL(usage.used, 128U);
  BOOST_CHECK_EQUAL(usage.high_water, 128U);
  BOOST_CHECK_EQUAL(usage.live_blocks, 2U);
  BOOST_CHECK_EQUAL(usage.largest_free, 4096U - 272);
  BOOST_CHECK(heap.release(a));
  usage = heap.usage();
  BOOST_CHECK_EQUAL(usage.used, 16U);
  BOOST_CHECK_EQUAL(usage.high_water, 128U);
  heap.reset();
  check_is_empty(heap, 4096);
  BOOST_CHECK_EQUAL(heap.usage().high_water, 0U);
  BOOST_CHECK(!heap.release(b));
  BOOST_CHECK(heap.allocate(4096) == Offset{0});
}

BOOST_AUTO_TEST_CASE(a_million_operations_are_fast_and_leave_few_holes) {
  constexpr std::size_t capacity = std::size_t{4} << 30;
  constexpr int operations = 1000000;
  BlockAllocator heap(capacity);
  Requests requests(seed());
  std::vector<Offset> live;
  Offset touched_end = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int step = 0; step < operations; ++step) {
    if (live.size() < 20000 || (live.size() < 30000 && requests.below(2) == 0)) {
      const std::size_t bytes = requests.bytes();
      const Offset offset = heap.allocate(bytes).value();
      touched_end = std::max(touched_end, offset + bytes);
      live.push_back(offset);
    } else {
      std::swap(live[requests.below(live.size())], live.back());
      BOOST_REQUIRE(heap.release(live.back()));
      live.pop_back();
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Usage usage = heap.usage();
  std::printf(
      "block allocator: %d operations with %zu live blocks take %.3f s, %.0f ns each; the heap's touched part ends at "
      "%.3f of "
      "the high-water mark\n",
      operations, live.size(), seconds, seconds * 1e9 / operations,
      static_cast<double>(touched_end) / static_cast<double>(usage.high_water));
  BOOST_CHECK_LT(touched_end, 2 * usage.high_water);
  for (const Offset offset : live) BOOST_REQUIRE(heap.release(offset));
  check_is_empty(heap, capacity);
}

BOOST_AUTO_TEST_SUITE_END()
