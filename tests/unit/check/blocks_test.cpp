#include "check/blocks.hpp"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>

#include "check/checks.hpp"
#include "support/child.hpp"

BOOST_AUTO_TEST_SUITE(check_blocks)

namespace {

using namespace shmemx;
using check::Checks;
using check::Extent;

constexpr std::uint64_t kHeapBytes = std::uint64_t{8} << 20;

// A heap with red zones.
class HeapGuard {
 public:
  explicit HeapGuard(std::uint8_t checks = Checks::kAll) : memory_(new std::byte[kHeapBytes]()) {
    check::enabled = Checks(checks);
    check::watch_heap(memory_.get(), kHeapBytes);
  }
  ~HeapGuard() { check::enabled = {}; }
  HeapGuard(const HeapGuard&) = delete;
  HeapGuard& operator=(const HeapGuard&) = delete;

  std::byte* at(std::uint64_t offset) { return memory_.get() + offset; }
  // Returns where the program has its bytes.
  std::uint64_t add(std::uint64_t begin, std::uint64_t bytes, std::uint64_t alignment = 64) {
    const check::Padding padding = check::padding_of(bytes, alignment);
    check::add_block({begin, padding.before + bytes + padding.behind}, padding, bytes, "shmem_malloc");
    return begin + padding.before;
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
};

// The diagnostic with which `use` ends the process; empty if it returns.
template <class Use>
std::string diagnostic(const Use& use) {
  const auto end = unit::in_child([&] {
    use();
    return 0;
  });
  return end.status == 0 ? "" : end.text;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_CASE(padding_keeps_the_alignment) {
  HeapGuard heap;
  for (const std::uint64_t alignment : {16, 64, 256, 4096}) {
    const check::Padding padding = check::padding_of(100, alignment);
    BOOST_CHECK(padding.before % alignment == 0 && padding.before >= 64);
    BOOST_CHECK(padding.behind >= 256 && (100 + padding.behind) % 64 == 0);
  }
  BOOST_CHECK_EQUAL(check::padding_of(100, 8192).before, 0U);
  BOOST_CHECK_EQUAL(check::padding_of(~std::uint64_t{0}, 64).behind, 0U);
}

BOOST_AUTO_TEST_CASE(without_red_zones_nothing_is_added_or_kept) {
  HeapGuard heap(Checks::leaks);
  BOOST_CHECK(check::padding_of(100, 64).before == 0 && check::padding_of(100, 64).behind == 0);
  const std::uint64_t block = heap.add(1024, 100);
  BOOST_CHECK(check::find_block(block + 99) && !check::find_block(block + 100));
  check::retire(block, "shmem_free");
  BOOST_CHECK(check::take_expired("shmem_malloc") == block);
  BOOST_CHECK(!check::find_block(block));
}

BOOST_AUTO_TEST_CASE(an_access_lies_in_one_live_block) {
  HeapGuard heap;
  const std::uint64_t block = heap.add(1024, 100);
  const auto access = [](std::uint64_t offset, std::uint64_t bytes) {
    return diagnostic([=] { check::check_access("shmem_test", "dest", offset, bytes); });
  };
  BOOST_CHECK_EQUAL(access(block, 100), "");
  BOOST_CHECK_EQUAL(access(block + 99, 1), "");
  BOOST_CHECK_EQUAL(access(block + 500, 0), "");
  BOOST_CHECK(
      contains(access(block + 92, 9), "92 bytes into a block of 100 bytes, and 9 bytes from there go 1 byte past"));
  BOOST_CHECK(contains(access(block + 100, 1), "at the end of a block of 100 bytes"));
  BOOST_CHECK(contains(access(block + 104, 1), "4 bytes behind the end of a block of 100 bytes"));
  BOOST_CHECK(contains(access(block - 8, 8), "8 bytes in front of a block of 100 bytes"));
  BOOST_CHECK(contains(access(0, 1), "in the symmetric heap, in memory that is not"));
  BOOST_CHECK(
      contains(access(block + 5000, 1), "4900 bytes behind the end of a block of 100 bytes, in memory that is not"));
  check::retire(block, "shmem_free");
  BOOST_CHECK(contains(access(block + 1, 1), "which has been freed: allocated by shmem_malloc"));
}

BOOST_AUTO_TEST_CASE(stores_into_red_zones_and_freed_blocks_are_found) {
  HeapGuard heap;
  const std::uint64_t block = heap.add(1024, 100);
  const auto found = [&](std::uint64_t offset, Extent extent = Extent::all) {
    return diagnostic([&] {
      *heap.at(offset) = std::byte{1};
      check::verify("shmem_test", extent);
    });
  };
  BOOST_CHECK_EQUAL(found(block), "");
  BOOST_CHECK_EQUAL(found(block + 99), "");
  BOOST_CHECK(contains(found(block + 100), "something was stored at the end of a block of 100 bytes"));
  BOOST_CHECK(contains(found(block - 1, Extent::some), "something was stored 1 byte in front of"));
  check::retire(block, "shmem_free");
  BOOST_CHECK(contains(found(block + 50, Extent::some), "50 bytes into a block of 100 bytes, after it had been freed"));
  BOOST_CHECK(contains(diagnostic([&] {
                         *heap.at(block + 50) = std::byte{1};
                         check::take_oldest("shmem_malloc");
                       }),
                       "50 bytes into a block of 100 bytes, after it had been freed"));
}

// Each barrier looks at a part of a large heap.
BOOST_AUTO_TEST_CASE(all_blocks_have_their_turn) {
  HeapGuard heap;
  for (int i = 0; i < 4000; ++i) heap.add(static_cast<std::uint64_t>(i) * 1024, 64);
  const auto found_after = [&](std::uint64_t offset, int barriers) {
    return diagnostic([&] {
      *heap.at(offset) = std::byte{1};
      for (int i = 0; i < barriers; ++i) check::verify("shmem_barrier_all", Extent::some);
    });
  };
  BOOST_CHECK_EQUAL(found_after(3999 * 1024, 1), "");
  BOOST_CHECK(found_after(3999 * 1024, 20) != "");
  BOOST_CHECK(found_after(0, 20) != "");
}

BOOST_AUTO_TEST_CASE(the_quarantine_gives_back_what_was_freed_first) {
  HeapGuard heap;
  constexpr std::uint64_t kBytes = 200'000;
  std::uint64_t kept = 0;
  std::uint64_t expected = 0;  // the next one to be given back
  for (std::uint64_t i = 0; i < 30; ++i) {
    const std::uint64_t begin = i * (kBytes + 4096);
    check::retire(heap.add(begin, kBytes), "shmem_free");
    ++kept;
    while (const auto expired = check::take_expired("shmem_free")) {
      BOOST_CHECK_EQUAL(*expired, expected);
      expected += kBytes + 4096;
      --kept;
    }
  }
  BOOST_CHECK(kept > 0 && kept * kBytes <= kHeapBytes / 8);
  while (const auto oldest = check::take_oldest("shmem_malloc")) {
    BOOST_CHECK_EQUAL(*oldest, expected);
    expected += kBytes + 4096;
    --kept;
  }
  BOOST_CHECK_EQUAL(kept, 0U);
}

// The middle of a large block need not stay in memory.
BOOST_AUTO_TEST_CASE(of_a_large_block_both_ends_are_watched) {
  HeapGuard heap;
  constexpr std::uint64_t kBytes = std::uint64_t{5} << 20;
  const std::uint64_t block = heap.add(4096, kBytes);
  const check::Span unused = check::retire(block, "shmem_free");
  BOOST_CHECK(unused.begin % 4096 == 0 && unused.bytes % 4096 == 0);
  BOOST_CHECK(unused.begin > block + 1'000'000 && unused.begin + unused.bytes < block + kBytes - 1'000'000);
  *heap.at(unused.begin) = std::byte{1};
  check::verify("shmem_test", Extent::all);
  BOOST_CHECK(diagnostic([&] {
                *heap.at(unused.begin - 4097) = std::byte{1};
                check::verify("shmem_test", Extent::all);
              }) != "");
}

BOOST_AUTO_TEST_SUITE_END()
