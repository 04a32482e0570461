#include "windows/arena.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstring>

#include "support/child.hpp"
#include "support/node.hpp"

BOOST_AUTO_TEST_SUITE(windows_arena)

namespace {

using namespace shmemx;
using windows::Arena;
using windows::HeapAt;

constexpr std::size_t kPes = 3;

std::byte* last_slot(const Arena& arena, int pe) {
  return arena.block(NodeIndex{pe}) + (windows::kTeamSlots + windows::kActiveSetSlots - 1) * arena.geometry().slot_bytes;
}

bool all_equal(const std::byte* from, std::size_t bytes, std::byte value) {
  return std::all_of(from, from + bytes, [value](std::byte b) { return b == value; });
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_header_of_the_file_is_seen) {
  auto arena = Arena::open(std::move(*bootstrap::create_job_file(kPes, 77)));
  BOOST_REQUIRE(arena);
  BOOST_CHECK_EQUAL(arena->header().n_pes, kPes);
  BOOST_CHECK_EQUAL(arena->header().job_id, 77U);
  arena->record(2).pid = 5;
  BOOST_CHECK_EQUAL(bootstrap::record_of(&arena->header(), 2)->pid, 5);
}

BOOST_AUTO_TEST_CASE(records_are_those_of_the_pes_that_share_the_file) {
  constexpr std::uint32_t kJobPes = 2'000'000;
  auto arena = Arena::open(std::move(*bootstrap::create_job_file({kJobPes, 3, 77, {1, 2}})));
  BOOST_REQUIRE(arena);
  arena->set_pes({7, 70'000, 1'999'999});
  for (const int pe : {7, 70'000, 1'999'999}) {
    BOOST_CHECK(arena->has(pe));
    arena->record(pe).pid = pe;
  }
  for (const int pe : {0, 8, 1'999'998}) BOOST_CHECK(!arena->has(pe));
  BOOST_CHECK_EQUAL(bootstrap::record_of(&arena->header(), 1)->pid, 70'000);
  arena->header().n_foreign = 1;
  arena->header().foreign_pes[0] = 1'000'000;
  std::vector<int> pes;
  for (const auto& [pe, record] : arena->records()) pes.push_back(pe);
  BOOST_CHECK((pes == std::vector<int>{7, 70'000, 1'000'000, 1'999'999}));
  BOOST_CHECK_LT(arena->resident_bytes(), std::size_t{1} << 20);
}

BOOST_AUTO_TEST_CASE(a_file_without_room_for_its_records_is_refused) {
  auto file = bootstrap::create_job_file(kPes, 77);
  bootstrap::JobHeader* const header = bootstrap::map_job_header(file->get(), kPes, 77).value();
  header->n_pes = 4096;
  ::munmap(header, bootstrap::header_bytes(kPes, kPes));
  const auto arena = Arena::open(std::move(*file));
  BOOST_REQUIRE(!arena);
  BOOST_CHECK(arena.error().code == Errc::protocol);
  BOOST_CHECK(!Arena::open(UniqueFd()));
}

BOOST_AUTO_TEST_CASE(blocks_are_aligned_distinct_and_zero) {
  const Arena arena = unit::make_arena(kPes);
  const auto& g = arena.geometry();
  struct stat about {};
  BOOST_REQUIRE_EQUAL(::fstat(arena.fd(), &about), 0);
  BOOST_CHECK_EQUAL(static_cast<std::size_t>(about.st_size), g.file_bytes);
  for (int pe = 0; pe < static_cast<int>(kPes); ++pe) {
    BOOST_CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(arena.heap(NodeIndex{pe})) % kHugePageBytes, 0U);
    BOOST_CHECK(all_equal(arena.heap(NodeIndex{pe}), g.heap_bytes, std::byte{0}));
    std::fill_n(arena.heap(NodeIndex{pe}), g.heap_bytes, std::byte(pe + 1));
    std::fill_n(arena.statics(NodeIndex{pe}), g.static_bytes, std::byte(pe + 11));
    arena.doorbell(NodeIndex{pe}).wake_seq = static_cast<std::uint32_t>(pe + 21);
    std::fill_n(last_slot(arena, pe), windows::slot_bytes(kPes), std::byte(pe + 31));
  }
  for (int pe = 0; pe < static_cast<int>(kPes); ++pe) {
    BOOST_CHECK(all_equal(arena.heap(NodeIndex{pe}), g.heap_bytes, std::byte(pe + 1)));
    BOOST_CHECK(all_equal(arena.statics(NodeIndex{pe}), g.static_bytes, std::byte(pe + 11)));
    BOOST_CHECK_EQUAL(arena.doorbell(NodeIndex{pe}).wake_seq.load(), static_cast<std::uint32_t>(pe + 21));
    BOOST_CHECK_EQUAL(arena.doorbell(NodeIndex{pe}).sleepers.load(), 0U);
    BOOST_CHECK(all_equal(last_slot(arena, pe), windows::slot_bytes(kPes), std::byte(pe + 31)));
  }
}

BOOST_AUTO_TEST_CASE(all_mappings_of_the_file_show_the_same_memory) {
  const Arena first = unit::make_arena(kPes);
  auto second = Arena::open(UniqueFd(::fcntl(first.fd(), F_DUPFD_CLOEXEC, 0)));
  BOOST_REQUIRE(second);
  BOOST_REQUIRE(second->map_blocks(first.geometry()));
  BOOST_CHECK_NE(first.block(NodeIndex{0}), second->block(NodeIndex{0}));
  *reinterpret_cast<int*>(first.heap(NodeIndex{2}) + 4096) = 42;
  BOOST_CHECK_EQUAL(*reinterpret_cast<int*>(second->heap(NodeIndex{2}) + 4096), 42);
}

BOOST_AUTO_TEST_CASE(the_channel_segment_is_shared_and_costs_nothing_until_it_is_used) {
  auto file = bootstrap::create_job_file(kPes, 77);
  const UniqueFd again(::fcntl(file->get(), F_DUPFD_CLOEXEC, 0));
  auto first = Arena::open(std::move(*file));
  auto second = Arena::open(UniqueFd(::fcntl(again.get(), F_DUPFD_CLOEXEC, 0)));
  BOOST_REQUIRE(first && second);
  const windows::Geometry geometry = windows::make_geometry(kPes, 0, 1 << 20, std::size_t{1} << 30);
  const std::size_t before = first->resident_bytes();
  BOOST_REQUIRE(first->map_blocks(geometry));
  BOOST_REQUIRE(second->map_own_block(geometry, 0, HeapAt{NodeIndex{1}}, true));
  BOOST_CHECK_EQUAL(first->resident_bytes(), before);
  first->channel()[0] = std::byte{5};
  first->channel()[geometry.channel_bytes - 1] = std::byte{6};
  BOOST_CHECK(second->channel()[0] == std::byte{5});
  BOOST_CHECK(second->channel()[geometry.channel_bytes - 1] == std::byte{6});
  *first->block(NodeIndex{0}) = std::byte{7};
  BOOST_CHECK(second->channel()[geometry.channel_bytes - 1] == std::byte{6});
}

BOOST_AUTO_TEST_CASE(the_own_block_alone_is_that_of_all_blocks) {
  for (const bool guard_others : {true, false}) {
    const Arena all = unit::make_arena(kPes);
    for (int pe = 0; pe < static_cast<int>(kPes); ++pe) {
      auto own = Arena::open(UniqueFd(::fcntl(all.fd(), F_DUPFD_CLOEXEC, 0)));
      BOOST_REQUIRE(own);
      BOOST_REQUIRE(own->map_own_block(all.geometry(), 0, HeapAt{NodeIndex{pe}}, guard_others));
      BOOST_CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(own->heap(NodeIndex{pe})) % kHugePageBytes, 0U);
      *own->block(NodeIndex{pe}) = std::byte(pe + 1);
      own->block(NodeIndex{pe})[all.geometry().stride - 1] = std::byte(pe + 2);
      *own->heap(NodeIndex{pe}) = std::byte(pe + 3);
      *own->statics(NodeIndex{pe}) = std::byte(pe + 4);
      *last_slot(*own, pe) = std::byte(pe + 5);
      BOOST_CHECK(*all.block(NodeIndex{pe}) == std::byte(pe + 1));
      BOOST_CHECK(all.block(NodeIndex{pe})[all.geometry().stride - 1] == std::byte(pe + 2));
      BOOST_CHECK(*all.heap(NodeIndex{pe}) == std::byte(pe + 3));
      BOOST_CHECK(*all.statics(NodeIndex{pe}) == std::byte(pe + 4));
      BOOST_CHECK(*last_slot(all, pe) == std::byte(pe + 5));
    }
  }
}

// Five PEs on pretended nodes of two, two and one: all use one file, and each maps the blocks of its node only.
BOOST_AUTO_TEST_CASE(nodes_that_share_a_file_have_blocks_of_their_own) {
  auto file = bootstrap::create_job_file(5, 77);
  const UniqueFd again(std::move(*file));
  const windows::Geometry geometry = windows::make_geometry({5, 2, 3}, kPageBytes, 1 << 20, 3 * kPageBytes);
  const auto open_at = [&](std::size_t node) {
    auto arena = Arena::open(UniqueFd(::fcntl(again.get(), F_DUPFD_CLOEXEC, 0)));
    BOOST_REQUIRE(arena && arena->map_blocks(geometry, node));
    return std::move(arena.value());
  };
  const Arena nodes[] = {open_at(0), open_at(1), open_at(2)};
  for (std::size_t node = 0; node < 3; ++node) {
    std::fill_n(nodes[node].channel(), geometry.channel_bytes, std::byte(node + 100));
    for (const int pe : {0, 1})
      *nodes[node].heap(NodeIndex{pe}) = std::byte(10 * node + static_cast<std::size_t>(pe) + 1);
  }
  for (std::size_t node = 0; node < 3; ++node) {
    BOOST_CHECK(all_equal(nodes[node].channel(), geometry.channel_bytes, std::byte(node + 100)));
    for (const int pe : {0, 1}) {
      BOOST_CHECK(*nodes[node].heap(NodeIndex{pe}) == std::byte(10 * node + static_cast<std::size_t>(pe) + 1));
      auto own = Arena::open(UniqueFd(::fcntl(again.get(), F_DUPFD_CLOEXEC, 0)));
      BOOST_REQUIRE(own && own->map_own_block(geometry, node, HeapAt{NodeIndex{pe}}, true));
      BOOST_CHECK(*own->heap(NodeIndex{pe}) == *nodes[node].heap(NodeIndex{pe}));
      BOOST_CHECK_LE(own->offset_of_block(NodeIndex{pe}) + geometry.stride, geometry.file_bytes);
    }
  }
  BOOST_REQUIRE(nodes[1].discard_heap(NodeIndex{1}, 0, geometry.heap_bytes));
  BOOST_CHECK(*nodes[1].heap(NodeIndex{1}) == std::byte{0});
  BOOST_CHECK(*nodes[1].heap(NodeIndex{0}) == std::byte{11} && *nodes[2].heap(NodeIndex{0}) == std::byte{21});
}

BOOST_AUTO_TEST_CASE(where_the_pes_are_lies_in_the_file_once) {
  auto file = bootstrap::create_job_file(kPes, 77);
  const UniqueFd again(::fcntl(file->get(), F_DUPFD_CLOEXEC, 0));
  auto first = Arena::open(std::move(*file));
  auto second = Arena::open(UniqueFd(::fcntl(again.get(), F_DUPFD_CLOEXEC, 0)));
  BOOST_REQUIRE(first && second);
  for (std::uint32_t pe = 0; pe < kPes; ++pe) first->locations()[pe] = {pe + 7, pe + 70};
  std::memset(static_cast<void*>(&first->endpoint_addresses(kPes - 1)), 0xff, sizeof(bootstrap::PeAddresses));
  for (std::uint32_t pe = 0; pe < kPes; ++pe) {
    BOOST_CHECK_EQUAL(second->locations()[pe].node, pe + 7);
    BOOST_CHECK_EQUAL(second->locations()[pe].index, pe + 70);
  }
}

BOOST_AUTO_TEST_CASE(a_stray_access_to_a_guarded_block_faults) {
  const Arena all = unit::make_arena(kPes);
  auto own = Arena::open(UniqueFd(::fcntl(all.fd(), F_DUPFD_CLOEXEC, 0)));
  BOOST_REQUIRE(own && own->map_own_block(all.geometry(), 0, HeapAt{NodeIndex{1}}, true));
  for (const int pe : {0, 1, 2}) {
    const auto end = unit::in_child([&] {
      ::signal(SIGSEGV, [](int) { ::_exit(77); });
      *static_cast<volatile std::byte*>(own->heap(NodeIndex{pe})) = std::byte{1};
      return 0;
    });
    BOOST_CHECK_EQUAL(end.status, pe == 1 ? 0 : 77);
  }
}

BOOST_AUTO_TEST_CASE(an_own_block_without_guards_needs_address_space_for_itself_only) {
  const auto pages = [] {
    std::size_t count = 0;
    FILE* const about = std::fopen("/proc/self/statm", "r");
    BOOST_REQUIRE(about != nullptr && std::fscanf(about, "%zu", &count) == 1);
    std::fclose(about);
    return count * kPageBytes;
  };
  auto arena = Arena::open(std::move(*bootstrap::create_job_file(kPes, 77)));
  const windows::Geometry geometry = windows::make_geometry(kPes, 0, std::size_t{1} << 30);
  const std::size_t before = pages();
  BOOST_REQUIRE(arena && arena->map_own_block(geometry, 0, HeapAt{NodeIndex{2}}, false));
  BOOST_CHECK_LE(pages() - before, geometry.stride + kHugePageBytes);
}

BOOST_AUTO_TEST_CASE(a_moved_arena_keeps_its_memory) {
  Arena first = unit::make_arena(1);
  *first.heap(NodeIndex{0}) = std::byte{9};
  const Arena second(std::move(first));
  BOOST_CHECK(*second.heap(NodeIndex{0}) == std::byte{9});
}

BOOST_AUTO_TEST_CASE(discarded_heap_is_given_back_and_reads_as_zero) {
  const Arena arena = unit::make_arena(kPes);
  const std::size_t bytes = arena.geometry().heap_bytes;
  for (int pe = 0; pe < static_cast<int>(kPes); ++pe) std::fill_n(arena.heap(NodeIndex{pe}), bytes, std::byte{0xff});
  const std::size_t before = arena.resident_bytes();
  BOOST_CHECK_GE(before, kPes * bytes);
  const bool locked = ::mlock(arena.heap(NodeIndex{1}) + 2 * kPageBytes, kPageBytes) == 0;
  if (!locked) BOOST_TEST_MESSAGE("no page can be locked here");
  BOOST_CHECK(arena.discard_heap(NodeIndex{1}, kPageBytes, bytes - 2 * kPageBytes));
  BOOST_CHECK_LE(arena.resident_bytes(), before - (bytes - 2 * kPageBytes));
  BOOST_CHECK(all_equal(arena.heap(NodeIndex{1}), kPageBytes, std::byte{0xff}));
  BOOST_CHECK(all_equal(arena.heap(NodeIndex{1}) + kPageBytes, bytes - 2 * kPageBytes, std::byte{0}));
  BOOST_CHECK(all_equal(arena.heap(NodeIndex{1}) + bytes - kPageBytes, kPageBytes, std::byte{0xff}));
  BOOST_CHECK(all_equal(arena.heap(NodeIndex{0}), bytes, std::byte{0xff}));
  BOOST_CHECK(all_equal(arena.heap(NodeIndex{2}), bytes, std::byte{0xff}));
}

BOOST_AUTO_TEST_CASE(untouched_heap_costs_no_memory) {
  const Arena arena = unit::make_arena(2, std::size_t{8} << 30);
  BOOST_CHECK_LT(arena.resident_bytes(), std::size_t{1} << 20);
}

BOOST_AUTO_TEST_SUITE_END()
