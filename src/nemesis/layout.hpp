// Where a PE's part of the channel region lies, and what it holds. Pure arithmetic, computed alike by every PE.
//
//   region: header page | part of PE 0 | part of PE 1 | ...         by node index
//   part:   doorbell | receive queue | free queue | consumed, for each source | fastbox, for each source |
//           line, for each PE of higher index | cells | copy buffer
//
// All of it is mapped by every PE of the node, also where the heaps are not. Pages appear on first use. Callers name
// PEs by their world numbers, `Parts` finds their places.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cache_line.hpp"
#include "base/doorbell.hpp"
#include "base/pe.hpp"
#include "nemesis/fastbox.hpp"
#include "nemesis/mpsc_queue.hpp"
#include "nemesis/pair_line.hpp"

namespace shmemx::nemesis {

// The fixed lines of a part.
struct Control {
  Doorbell doorbell;  // where the PE sleeps when its heap is not mapped by the others
  MpscQueue receive;  // many senders, this PE takes
  MpscQueue free;     // this PE's cells that are not under way; receivers give back, this PE takes
};
static_assert(std::is_standard_layout_v<Control> && sizeof(Control) == 5 * kCacheLine);

// The copy buffer, by which both sides copy long two-sided messages to this PE at the same time (pt2pt/).
inline constexpr std::size_t kCopyChunks = 8;
inline constexpr std::size_t kCopyChunkBytes = std::size_t{16} << 10;
inline constexpr std::size_t kCopyBufferBytes = 4 * kCacheLine + kCopyChunks * kCopyChunkBytes;

struct Layout {
  std::size_t n_pes = 0;            // of the node
  std::size_t cell_bytes = 0;       // all of a cell; a multiple of kCacheLine
  std::size_t cell_count = 0;       // of each PE
  std::size_t consumed_offset = 0;  // in a part
  std::size_t boxes_offset = 0;
  std::size_t lines_offset = 0;
  std::size_t cells_offset = 0;
  std::size_t copy_offset = 0;
  std::size_t part_bytes = 0;
  std::size_t total_bytes = 0;
};

constexpr Layout make_layout(std::size_t n_pes, std::size_t cell_bytes, std::size_t cell_count) {
  Layout layout;
  layout.n_pes = n_pes;
  layout.cell_bytes = round_up(cell_bytes, kCacheLine);
  layout.cell_count = cell_count;
  layout.consumed_offset = sizeof(Control);
  layout.boxes_offset = layout.consumed_offset + n_pes * sizeof(Consumed);
  layout.lines_offset = layout.boxes_offset + n_pes * sizeof(Fastbox);
  layout.cells_offset = round_up(layout.lines_offset + n_pes * sizeof(PairLine), kPageBytes);
  layout.copy_offset = round_up(layout.cells_offset + cell_count * layout.cell_bytes, kPageBytes);
  layout.part_bytes = round_up(layout.copy_offset + kCopyBufferBytes, kPageBytes);
  layout.total_bytes = kPageBytes + n_pes * layout.part_bytes;
  return layout;
}

// Typed views of the mapped region.
class Parts {
 public:
  Parts() = default;
  Parts(std::byte* base, const Layout& layout, NodePes pes = {}) noexcept : base_(base), layout_(layout), pes_(pes) {}

  const Layout& layout() const noexcept { return layout_; }
  std::size_t index_of(int pe) const noexcept { return static_cast<std::size_t>(pes_.index_of(Pe{pe}).value); }
  std::byte* part(int pe) const noexcept { return base_ + kPageBytes + index_of(pe) * layout_.part_bytes; }
  Control& control(int pe) const noexcept { return *reinterpret_cast<Control*>(part(pe)); }
  // How many messages of `source` the PE `owner` has finished; written by `owner`.
  Consumed& consumed(int owner, int source) const noexcept {
    return reinterpret_cast<Consumed*>(part(owner) + layout_.consumed_offset)[index_of(source)];
  }
  // The box that `source` writes and `owner` reads.
  Fastbox& box(int owner, int source) const noexcept {
    return reinterpret_cast<Fastbox*>(part(owner) + layout_.boxes_offset)[index_of(source)];
  }
  // The line that two PEs share. `first` has the lower number.
  PairLine& line(int first, int second) const noexcept {
    return reinterpret_cast<PairLine*>(part(first) + layout_.lines_offset)[index_of(second)];
  }
  Cell* cell(int owner, std::size_t index) const noexcept {
    return reinterpret_cast<Cell*>(part(owner) + layout_.cells_offset + index * layout_.cell_bytes);
  }
  std::size_t index_of_cell(int owner, const Cell* cell) const noexcept {
    const std::byte* const first = part(owner) + layout_.cells_offset;
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(cell) - first) / layout_.cell_bytes;
  }
  // `kCopyBufferBytes` through which others copy to `owner`; zero before the first use.
  std::byte* copy_buffer(int owner) const noexcept { return part(owner) + layout_.copy_offset; }

 private:
  std::byte* base_ = nullptr;
  Layout layout_;
  NodePes pes_;
};

}  // namespace shmemx::nemesis
