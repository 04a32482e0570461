#include "windows/geometry.hpp"

#include <boost/test/unit_test.hpp>

#include "coll/common/team.hpp"

BOOST_AUTO_TEST_SUITE(windows_geometry)

namespace {

using namespace shmemx;
using windows::Geometry;

void check_layout(const Geometry& g, std::size_t static_bytes, std::size_t heap_bytes) {
  // In the file: header, channel region, then blocks.
  BOOST_REQUIRE_GE(g.channel_offset, bootstrap::header_bytes(g.n_pes, g.n_pes));
  BOOST_REQUIRE_EQUAL(g.channel_offset % kPageBytes, 0U);
  BOOST_REQUIRE_EQUAL(g.channel_bytes % kPageBytes, 0U);
  BOOST_REQUIRE_GE(g.blocks_offset, g.channel_offset + g.channel_bytes);
  BOOST_REQUIRE_EQUAL(g.blocks_offset % kHugePageBytes, 0U);
  BOOST_REQUIRE_EQUAL(g.file_bytes, g.blocks_offset + g.n_pes * g.stride);
  // In a block: slots, static data, doorbell, heap, guard page.
  BOOST_REQUIRE_GE(g.static_offset, (windows::kTeamSlots + windows::kActiveSetSlots) * g.slot_bytes);
  BOOST_REQUIRE_EQUAL(g.static_offset % kPageBytes, 0U);
  BOOST_REQUIRE_GE(g.static_bytes, static_bytes);
  BOOST_REQUIRE_LE(g.static_offset + g.static_bytes, g.doorbell_offset);
  BOOST_REQUIRE_EQUAL(g.doorbell_offset + sizeof(Doorbell), g.heap_offset);
  BOOST_REQUIRE_LE(g.static_offset + g.static_bytes, round_down(g.doorbell_offset, kPageBytes));  // no page is both
  BOOST_REQUIRE_EQUAL(g.heap_offset % kHugePageBytes, 0U);
  BOOST_REQUIRE_GE(g.heap_bytes, heap_bytes);
  BOOST_REQUIRE_LE(g.heap_offset + g.heap_bytes + kPageBytes, g.stride);
  BOOST_REQUIRE_EQUAL(g.stride % kHugePageBytes, 0U);
}

}  // namespace

BOOST_AUTO_TEST_CASE(nothing_overlaps_for_any_number_of_pes) {
  for (std::size_t n_pes = 1; n_pes <= bootstrap::kMaxNodePes; ++n_pes) {
    for (const std::size_t static_bytes : {std::size_t{0}, std::size_t{1}, std::size_t{123'456'789}}) {
      for (const std::size_t heap_bytes : {std::size_t{1}, std::size_t{1} << 20, (std::size_t{1} << 33) + 5}) {
        const Geometry g = windows::make_geometry(n_pes, static_bytes, heap_bytes);
        BOOST_REQUIRE_EQUAL(g.n_pes, n_pes);
        check_layout(g, static_bytes, heap_bytes);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(blocks_of_a_node_do_not_depend_on_other_nodes) {
  constexpr std::size_t kHeapBytes = std::size_t{1} << 40;
  const Geometry alone = windows::make_geometry(2, 0, kHeapBytes);
  for (const std::size_t world : {4, 100, 4096}) {
    const Geometry g = windows::make_geometry({world, 2, 1}, 0, kHeapBytes);
    BOOST_CHECK_EQUAL(g.n_pes, 2U);
    BOOST_CHECK_EQUAL(g.heap_bytes, kHeapBytes);
    BOOST_CHECK_EQUAL(g.file_bytes, g.blocks_offset + 2 * g.stride);
    BOOST_CHECK_EQUAL(g.stride, alone.stride);
    BOOST_CHECK_EQUAL(g.slot_bytes, alone.slot_bytes);
    const Geometry shared = windows::make_geometry({world, 2, world / 2}, 0, kHeapBytes);
    BOOST_CHECK_EQUAL(shared.stride, g.stride);
    BOOST_CHECK_EQUAL(shared.file_bytes, shared.blocks_offset + world * g.stride);
  }
}

BOOST_AUTO_TEST_CASE(the_channel_segment_lies_between_records_and_blocks) {
  for (const std::size_t n_pes : {1, 2, 3, 50, 4096}) {
    const Geometry without = windows::make_geometry(n_pes, 1, 1 << 20);
    BOOST_CHECK_EQUAL(without.channel_bytes, 0U);
    for (const std::size_t channel_bytes : {std::size_t{1}, kPageBytes, kHugePageBytes + 1, std::size_t{1} << 36}) {
      const Geometry g = windows::make_geometry(n_pes, 1, 1 << 20, channel_bytes);
      check_layout(g, 1, 1 << 20);
      BOOST_REQUIRE_GE(g.channel_bytes, channel_bytes);
      BOOST_REQUIRE_LT(g.channel_bytes, channel_bytes + kPageBytes);
      // It moves the blocks, and changes nothing in them.
      BOOST_REQUIRE_EQUAL(g.stride, without.stride);
      BOOST_REQUIRE_EQUAL(g.heap_offset, without.heap_offset);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_slot_holds_flags_barrier_and_both_scratch_areas) {
  for (std::size_t n_pes = 1; n_pes <= bootstrap::kMaxNodePes; ++n_pes) {
    const std::size_t bytes = windows::slot_bytes(n_pes);
    const std::size_t scratch = bytes - 2 * windows::kScratchBytes;
    BOOST_REQUIRE_EQUAL(bytes % windows::kScratchBytes, 0U);
    BOOST_REQUIRE_LE(n_pes * sizeof(coll::Flag) + sizeof(coll::CountingBarrier), scratch);
  }
}

BOOST_AUTO_TEST_CASE(a_larger_wish_never_gives_less) {
  Geometry last = windows::make_geometry(3, 0, 1);
  for (std::size_t heap_bytes = 1000; heap_bytes < (std::size_t{16} << 20); heap_bytes += 77'777) {
    const Geometry g = windows::make_geometry(3, heap_bytes / 10, heap_bytes);
    BOOST_REQUIRE_GE(g.heap_bytes, last.heap_bytes);
    BOOST_REQUIRE_GE(g.file_bytes, last.file_bytes);
    last = g;
  }
}

BOOST_AUTO_TEST_SUITE_END()
