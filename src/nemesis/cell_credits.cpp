#include "nemesis/cell_credits.hpp"

#include <algorithm>

#include "nemesis/message.hpp"

namespace shmemx::nemesis {

void CellCredits::open(const Parts& parts, int me, std::span<std::uint32_t> in_use_by_pe) noexcept {
  free_queue_ = &parts.control(me).free;
  cells_ = reinterpret_cast<std::byte*>(parts.cell(me, 0));
  cell_bytes_ = parts.layout().cell_bytes;
  cell_count_ = parts.layout().cell_count;
  in_use_by_pe_ = in_use_by_pe.data();
  reserved_ = std::max<std::size_t>(cell_count_ / 8, 1);
  max_of_pe_ = static_cast<std::uint32_t>(std::max<std::size_t>(cell_count_ * 5 / 8, 1));
}

void CellCredits::note_returned(Cell* cell) noexcept {
  --in_use_by_pe_[CellHeader::of(cell).target];
  --in_use_;
}

// Moves all returned cells to the private stack, so that the counts are exact.
void CellCredits::collect() noexcept {
  while (Cell* const cell = free_queue_->try_dequeue()) {
    note_returned(cell);
    cell->next.store(stack_, std::memory_order_relaxed);  // private until it is sent again
    stack_ = distance(free_queue_, cell);
  }
}

// Takes one cell off the free queue only if there is no other: each look at the queue costs a cache line transfer or
// two.
Cell* CellCredits::find() noexcept {
  if (stack_ != kNull) {
    Cell* const cell = cell_at(free_queue_, stack_);
    stack_ = cell->next.load(std::memory_order_relaxed);  // private
    return cell;
  }
  if (Cell* const cell = free_queue_->try_dequeue()) {
    note_returned(cell);
    return cell;
  }
  return fresh_ < cell_count_ ? reinterpret_cast<Cell*>(cells_ + fresh_++ * cell_bytes_) : nullptr;
}

bool CellCredits::may_take(int pe, CellUse use) const noexcept {
  const std::size_t available = cell_count_ - in_use_;
  if (use == CellUse::reply) return available > 0;
  return available > reserved_ && in_use_by_pe_[pe] < max_of_pe_;
}

Cell* CellCredits::try_take(int pe, CellUse use) noexcept {
  if (!may_take(pe, use)) {
    collect();
    if (!may_take(pe, use)) return nullptr;
  }
  Cell* const cell = find();
  if (cell == nullptr) return nullptr;
  ++in_use_by_pe_[pe];
  ++in_use_;
  return cell;
}

bool CellCredits::try_move(int from, int to) noexcept {
  if (from != to && in_use_by_pe_[to] >= max_of_pe_) return false;
  --in_use_by_pe_[from];
  ++in_use_by_pe_[to];
  return true;
}

}  // namespace shmemx::nemesis
