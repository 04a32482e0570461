// A lock-free stack of cells with many takers: what free cells are kept in where they have no single owner.
//
// push, try_pop: anybody; lock-free, not wait-free. Who dies inside never stops the others; at most its cell is lost.
//
// The word `top` holds the distance from the stack to the topmost cell, in lines, and a number that every pop
// increases. Without it, a taker that was held up between its load and its swap could find the same cell on top again,
// but with another one below. The number has 32 bits: a taker would have to be held up for exactly 2^32 pops.
// A taker may read the link of a cell that is no longer here. Its swap then fails and the value is dropped.
//
// Edge:  free  top.cas in push -> top.load and cas in try_pop: everything the giver did with the cell. Swaps of others
//              in between belong to push's release sequence.
#pragma once

#include "nemesis/cell.hpp"

namespace shmemx::nemesis {

class CellStack {
 public:
  // `cell` lies on a line's start, less than 128 GiB away.
  void push(Cell* cell) noexcept {
    const Word self = line_of(cell);
    Word top = top_.load(std::memory_order_relaxed);  // only a first guess
    do {
      cell->next.store(top & kLineMask, std::memory_order_relaxed);                                  // free orders it
    } while (!top_.compare_exchange_weak(top, (top & ~kLineMask) | self, std::memory_order_release,  // free
                                         std::memory_order_relaxed));                                // guess again
  }

  Cell* try_pop() noexcept {
    Word top = top_.load(std::memory_order_acquire);  // free
    for (;;) {
      if ((top & kLineMask) == 0) return nullptr;
      Cell* const cell = at(top);
      const Word below = cell->next.load(std::memory_order_relaxed);  // free; rubbish where the swap will fail
      const Word taken = ((top & ~kLineMask) + kOnePop) | (below & kLineMask);
      if (top_.compare_exchange_weak(top, taken, std::memory_order_acquire, std::memory_order_acquire))  // free
        return cell;
    }
  }

 private:
  using Word = std::uint64_t;
  static constexpr Word kLineMask = 0xffffffff;
  static constexpr Word kOnePop = Word{1} << 32;

  Word line_of(const Cell* cell) const noexcept {
    return static_cast<Word>(static_cast<std::int64_t>(distance(this, cell)) / std::int64_t{kCacheLine}) & kLineMask;
  }
  Cell* at(Word top) noexcept {
    const auto lines = static_cast<std::int32_t>(top & kLineMask);  // may be negative
    return cell_at(this, static_cast<Offset>(std::int64_t{lines} * std::int64_t{kCacheLine}));
  }

  alignas(kCacheLine) std::atomic<Word> top_{0};
};
static_assert(sizeof(CellStack) == kCacheLine && std::is_standard_layout_v<CellStack>);

}  // namespace shmemx::nemesis
