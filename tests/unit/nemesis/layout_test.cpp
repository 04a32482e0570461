#include "nemesis/layout.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(nemesis_layout)

namespace {

using namespace shmemx;
using namespace shmemx::nemesis;

BOOST_AUTO_TEST_CASE(parts_do_not_overlap_and_cells_are_whole_lines) {
  for (const std::size_t n_pes : {1U, 2U, 3U, 8U, 100U, 4096U}) {
    for (const std::size_t cell_bytes : {512U, 8192U, 100000U}) {
      const Layout layout = make_layout(n_pes, cell_bytes, 64);
      BOOST_CHECK_EQUAL(layout.cell_bytes % kCacheLine, 0U);
      BOOST_CHECK_GE(layout.cell_bytes, cell_bytes);
      BOOST_CHECK_GE(layout.boxes_offset, layout.consumed_offset + n_pes * sizeof(Consumed));
      BOOST_CHECK_GE(layout.lines_offset, layout.boxes_offset + n_pes * sizeof(Fastbox));
      BOOST_CHECK_GE(layout.cells_offset, layout.lines_offset + n_pes * sizeof(PairLine));
      BOOST_CHECK_GE(layout.part_bytes, layout.cells_offset + 64 * layout.cell_bytes);
      BOOST_CHECK_EQUAL(layout.total_bytes, kPageBytes + n_pes * layout.part_bytes);
      BOOST_CHECK_EQUAL(layout.cells_offset % kPageBytes, 0U);
    }
  }
}

BOOST_AUTO_TEST_CASE(views_lie_inside_their_part) {
  const Layout layout = make_layout(5, 1024, 16);
  std::byte* const base = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 30);
  const Parts parts(base, layout);
  for (int pe = 0; pe < 5; ++pe) {
    std::byte* const begin = parts.part(pe);
    std::byte* const end = begin + layout.part_bytes;
    BOOST_CHECK(reinterpret_cast<std::byte*>(&parts.control(pe)) == begin);
    for (int source = 0; source < 5; ++source) {
      BOOST_CHECK(reinterpret_cast<std::byte*>(&parts.consumed(pe, source) + 1) <= begin + layout.boxes_offset);
      BOOST_CHECK(reinterpret_cast<std::byte*>(&parts.box(pe, source) + 1) <= begin + layout.lines_offset);
      BOOST_CHECK(reinterpret_cast<std::byte*>(&parts.line(pe, source)) >= begin + layout.lines_offset);
      BOOST_CHECK(reinterpret_cast<std::byte*>(&parts.line(pe, source) + 1) <= begin + layout.cells_offset);
    }
    BOOST_CHECK(reinterpret_cast<std::byte*>(parts.cell(pe, 15)) + layout.cell_bytes <= end);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
