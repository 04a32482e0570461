// The lock-free queue of the Nemesis papers: many producers, one consumer.
//
// enqueue: any process or thread; wait-free. try_dequeue: the consumer only; wait-free too: where a producer has taken
// its place but not yet linked its cell, the result is "nothing yet". A producer that dies there stops the cells behind
// its own, but never the consumer, who reaches the last cell before the gap by first_cell().
//
// Invariants: tail == kNull means empty. Cells are linked from shadow_head (or ends.next, before the consumer has
// looked) to tail, but for the one link that each producer between its two steps has still to set. Only the consumer
// writes shadow_head. A cell that has left the queue is written by no producer any more.
//
// The queue is its own cell number 0: whoever finds tail == kNull links its cell to the queue as it would to any other
// cell, without a branch.
//
// Edges:  link     tail.exchange -> tail.exchange  prev's next == null, before we set prev's next
//         publish  next.store -> next.load         the cell's content, before the consumer reads it
//         drain    tail.cas(null) -> tail.exchange the consumer's before_first = null, before our store there
#pragma once

#include "nemesis/cell.hpp"

namespace shmemx::nemesis {

// Head and tail share a line: a producer that finds the queue empty, and a consumer that empties it, touch both. The
// consumer's own head has a line of its own, so that a queue with something in it is not pulled to and fro.
struct QueueEnds {
  alignas(kCacheLine) Cell before_first{kNull};    // its next is the head; written where the queue was empty
  std::atomic<Offset> tail{kNull};                 // written by every producer
  alignas(kCacheLine) Offset shadow_head = kNull;  // the consumer's own
};
static_assert(sizeof(QueueEnds) == 2 * kCacheLine && offsetof(QueueEnds, before_first) == 0);
static_assert(offsetof(QueueEnds, tail) == sizeof(Cell) && offsetof(QueueEnds, shadow_head) == kCacheLine);
static_assert(std::is_standard_layout_v<QueueEnds>);

class MpscQueue {
 public:
  void enqueue(Cell* cell) noexcept {
    cell->next.store(kNull, std::memory_order_relaxed);  // link orders it
    const Offset self = distance(this, cell);
    const Offset prev = ends_.tail.exchange(self, std::memory_order_acq_rel);  // link, both sides; drain, acquire
    at(prev)->next.store(self, std::memory_order_release);                     // publish
  }

  // Nothing when the queue is empty, or when the only way on is a link that a producer has not made yet.
  Cell* try_dequeue() noexcept {
    if (ends_.shadow_head == kNull) return take_after_empty();
    return take_first();
  }

  // The first cell, which stays in the queue; null where try_dequeue sees an empty one. Consumer only.
  Cell* first_cell() noexcept {
    if (ends_.shadow_head == kNull && !look_at_head(ends_.shadow_head)) return nullptr;
    return at(ends_.shadow_head);
  }

  // Consumer only: does it see nothing?
  bool maybe_empty() const noexcept {
    return ends_.shadow_head == kNull && ends_.before_first.next.load(std::memory_order_acquire) == kNull;  // publish
  }

 private:
  Cell* at(Offset offset) noexcept { return cell_at(this, offset); }

  // Moves the head to where only the consumer sees it.
  bool look_at_head(Offset& first) noexcept {
    first = ends_.before_first.next.load(std::memory_order_acquire);  // publish
    if (first == kNull) return false;
    ends_.before_first.next.store(kNull, std::memory_order_relaxed);  // drain orders it
    return true;
  }

  // Fails when somebody has taken the place behind `self`.
  bool take_last(Offset self) noexcept {
    return ends_.tail.compare_exchange_strong(self, kNull, std::memory_order_acq_rel,  // drain, release
                                              std::memory_order_relaxed);              // nothing is read
  }

  // What was put into an empty queue is most often alone there. The line of tail is ours since look_at_head, so to try
  // costs less than to look at the cell's link first.
  Cell* take_after_empty() noexcept {
    Offset first;
    if (!look_at_head(first)) return nullptr;
    if (!take_last(first)) [[unlikely]]
      return take_from(first);
    return at(computed_here(first));
  }

  [[gnu::noinline]] Cell* take_from(Offset first) noexcept {
    ends_.shadow_head = first;
    return take_first();
  }

  Cell* take_first() noexcept {
    const Offset self = ends_.shadow_head;
    const Offset next = at(self)->next.load(std::memory_order_acquire);  // publish
    if (next == kNull && !take_last(self)) return nullptr;  // somebody is linking: the cell stays where it is
    ends_.shadow_head = next;
    return at(computed_here(self));
  }

  // Else the compiler forms the cell's address early and keeps it beside the offset: an instruction more.
  static Offset computed_here(Offset offset) noexcept {
    asm("" : "+r"(offset));
    return offset;
  }

  QueueEnds ends_;
};
static_assert(sizeof(MpscQueue) == 2 * kCacheLine && std::is_standard_layout_v<MpscQueue>);

}  // namespace shmemx::nemesis
