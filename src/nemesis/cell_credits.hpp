// Which of this PE's cells may carry a message now. Two rules keep the node going: messages that start something leave
// some cells for the replies of handlers, or PEs that send requests to each other would hold all cells with requests
// and have none to reply; and no peer may hold more than a part of the cells, so that a slow one does not stall what
// goes to others.
//
// Receivers return cells through the free queue. The cells that have come back lie on a private stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nemesis/cell.hpp"
#include "nemesis/layout.hpp"
#include "nemesis/mpsc_queue.hpp"

namespace shmemx::nemesis {

enum class CellUse : std::uint8_t {
  request,  // leaves the reserve alone
  reply,    // of a handler
};

// One thread at a time.
class CellCredits {
 public:
  // `in_use_by_pe`: zeros, one for each PE; stays.
  void open(const Parts& parts, int me, std::span<std::uint32_t> in_use_by_pe) noexcept;

  // Takes a cell for a message to `pe`, whose CellHeader::target the caller sets. Returns null if there is none that
  // may be used.
  Cell* try_take(int pe, CellUse use) noexcept;
  // Counts a cell in use by `from` as one of `to` from now on. Returns false if `to` holds as many as it may.
  bool try_move(int from, int to) noexcept;

 private:
  bool may_take(int pe, CellUse use) const noexcept;
  void note_returned(Cell* cell) noexcept;
  void collect() noexcept;
  Cell* find() noexcept;

  MpscQueue* free_queue_ = nullptr;
  std::byte* cells_ = nullptr;  // the first one
  std::size_t cell_bytes_ = 0;
  std::size_t cell_count_ = 0;
  Offset stack_ = kNull;    // returned cells; distances from the free queue
  std::size_t fresh_ = 0;   // cells before this index have been used at least once
  std::size_t in_use_ = 0;  // sent, and not known to be back
  std::uint32_t* in_use_by_pe_ = nullptr;
  std::size_t reserved_ = 0;     // for replies
  std::uint32_t max_of_pe_ = 0;  // no peer may hold more
};

}  // namespace shmemx::nemesis
