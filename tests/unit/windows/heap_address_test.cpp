#include "windows/heap_address.hpp"

#include <sys/mman.h>

#include <boost/test/unit_test.hpp>

#include "windows/arena.hpp"

BOOST_AUTO_TEST_SUITE(windows_heap_address)

namespace {

using namespace shmemx;
using namespace shmemx::windows;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kAllZones = ~std::uint64_t{0};

// The address space that PE `index` of a node maps if its heap lies at `heap`.
struct Span {
  std::uint64_t begin;
  std::uint64_t end;
};
Span span_of(const Geometry& g, std::uint64_t heap, std::size_t index) {
  const std::uint64_t begin = heap - g.heap_offset - index * g.stride;
  return {begin, begin + g.n_pes * g.stride};
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_pe_finds_room_around_a_common_heap) {
  for (const std::size_t n_pes : {1UL, 2UL, 3UL, 8UL, 100UL, 1000UL}) {
    for (const std::uint64_t heap_bytes : {std::uint64_t{1}, kGiB / 64, 24 * kGiB}) {
      const Geometry g = make_geometry(n_pes, 1 << 20, heap_bytes);
      for (int first = 8; first < 30; ++first) {
        const std::uint64_t zones = kAllZones << first & ~(std::uint64_t{3} << 60);
        const std::uintptr_t heap = common_heap_address(zones, g);
        BOOST_REQUIRE_NE(heap, 0U);
        BOOST_CHECK_EQUAL(heap % g.alignment, 0U);
        for (const std::size_t index : {std::size_t{0}, n_pes / 2, n_pes - 1}) {
          const Span span = span_of(g, heap, index);
          for (std::uint64_t zone = span.begin / kZoneBytes; zone <= (span.end - 1) / kZoneBytes; ++zone)
            BOOST_REQUIRE((zones >> zone & 1) != 0);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(heaps_without_room_have_no_common_address) {
  BOOST_CHECK_EQUAL(common_heap_address(0, make_geometry(2, 0, kGiB)), 0U);
  const Geometry large = make_geometry(4, 0, 20 * 1024 * kGiB);
  BOOST_CHECK_EQUAL(common_heap_address(kAllZones, large), 0U);
  const Geometry two_zones = make_geometry(1, 0, 3 * 1024 * kGiB);
  BOOST_CHECK_EQUAL(common_heap_address(0x5555'5555'5555'5555, two_zones), 0U);
  BOOST_CHECK_NE(common_heap_address(0x5555'5555'5555'5557, two_zones), 0U);
}

BOOST_AUTO_TEST_CASE(zones_with_mappings_are_not_free) {
  const std::uint64_t zones = free_zones();
#if defined(__SANITIZE_THREAD__)
  BOOST_CHECK_EQUAL(zones, 0U);
#else
  static int global;
  int local;
  for (const void* object : {static_cast<const void*>(&global), static_cast<const void*>(&local)}) {
    const auto zone = reinterpret_cast<std::uintptr_t>(object) / kZoneBytes;
    if (zone < kZones) BOOST_CHECK_EQUAL(zones >> zone & 1, 0U);
  }
  BOOST_REQUIRE_NE(zones, 0U);
  const int zone = 63 - __builtin_clzll(zones);
  void* const at = reinterpret_cast<void*>(static_cast<std::uint64_t>(zone) * kZoneBytes + kZoneBytes / 2);
  void* const page = ::mmap(at, kPageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  BOOST_REQUIRE(page == at);
  BOOST_CHECK_EQUAL(free_zones(), zones & ~(std::uint64_t{1} << zone));
  ::munmap(page, kPageBytes);
#endif
}

#if !defined(__SANITIZE_THREAD__)
BOOST_AUTO_TEST_CASE(an_arena_puts_the_own_heap_there_unless_that_is_taken) {
  constexpr int kPes = 3;
  const Geometry geometry = make_geometry(kPes, 4096, 1 << 20);
  const std::uintptr_t heap = common_heap_address(free_zones(), geometry);
  BOOST_REQUIRE_NE(heap, 0U);
  for (int pe = 0; pe < kPes; ++pe) {
    for (const bool only_own : {false, true}) {
      auto arena = Arena::open(std::move(bootstrap::create_job_file(kPes, 7).value()));
      BOOST_REQUIRE(arena);
      const HeapAt at{NodeIndex{pe}, heap};
      BOOST_REQUIRE(only_own ? arena->map_own_block(geometry, 0, at, pe == 1) : arena->map_blocks(geometry, 0, at));
      BOOST_CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(arena->heap(NodeIndex{pe})), heap);
      auto second = Arena::open(std::move(bootstrap::create_job_file(kPes, 8).value()));
      BOOST_REQUIRE(second && second->map_blocks(geometry, 0, at));
      BOOST_CHECK_NE(reinterpret_cast<std::uintptr_t>(second->heap(NodeIndex{pe})), heap);
      *reinterpret_cast<volatile long*>(second->heap(NodeIndex{pe})) = 7;
      BOOST_CHECK_EQUAL(*reinterpret_cast<volatile long*>(arena->heap(NodeIndex{pe})), 0);
    }
  }
}
#endif

BOOST_AUTO_TEST_SUITE_END()
