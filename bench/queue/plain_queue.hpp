// The queue without a shadow head: the consumer works on the head itself, in the line that producers write. It is here
// so that the shadow head's worth can be measured; same interface, same edges, same guarantees as MpscQueue.
#pragma once

#include "nemesis/cell.hpp"

namespace shmemx::nemesis {

class PlainQueue {
 public:
  void enqueue(Cell* cell) noexcept {
    cell->next.store(kNull, std::memory_order_relaxed);  // link orders it
    const Offset self = distance(this, cell);
    const Offset prev = tail_.exchange(self, std::memory_order_acq_rel);  // link, both sides; drain, acquire
    cell_at(this, prev)->next.store(self, std::memory_order_release);     // publish
  }

  Cell* try_dequeue() noexcept {
    const Offset self = before_first_.next.load(std::memory_order_acquire);  // publish
    if (self == kNull) return nullptr;
    Cell* const cell = cell_at(this, self);
    const Offset next = cell->next.load(std::memory_order_acquire);  // publish
    // A producer writes the head only after it has found tail == kNull, so it is ours until then.
    before_first_.next.store(next, std::memory_order_relaxed);  // drain orders it
    if (next != kNull) return cell;
    Offset expected = self;
    if (tail_.compare_exchange_strong(expected, kNull, std::memory_order_acq_rel, std::memory_order_relaxed))  // drain
      return cell;
    before_first_.next.store(self, std::memory_order_relaxed);  // somebody is linking: the consumer alone reads it
    return nullptr;
  }

 private:
  alignas(kCacheLine) Cell before_first_{kNull};  // its next is the head
  std::atomic<Offset> tail_{kNull};
};
static_assert(sizeof(PlainQueue) == kCacheLine && std::is_standard_layout_v<PlainQueue>);

}  // namespace shmemx::nemesis
