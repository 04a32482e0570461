// A fastbox: a few slots through which one process hands short messages to one other, beside the queue. Sender and
// receiver number all their messages; a slot carries the number of the one in it, so the receiver knows whether it is
// the next one or whether an earlier one is still in the queue, and the other way round.
//
// The sender alone writes the slots, the receiver alone writes `consumed`: how many messages of this sender it has
// finished, whichever way they came. Slots whose message has been consumed are free again. The sender looks at
// `consumed` only when it does not know better (messages the other way carry it, too).
//
// Numbers wrap, and a slot keeps its number after it was consumed. So that a later message of the same number is not
// taken for it, the receiver remembers what it took from each slot, and the sender passes over a slot whose last
// message is 2^31 or more behind: it uses the queue instead, which is always right. refresh() keeps that comparison
// sound.
//
// Edges:  box   slot.number.store -> slot.number.load   the message in the slot
//         done  consumed.store -> consumed.load         everything the receiver did with the messages up to that number
#pragma once

#include "nemesis/cell.hpp"

namespace shmemx::nemesis {

// Message numbers of one ordered pair count from 1 and wrap.
using Number = std::uint32_t;
constexpr bool reached(Number count, Number number) noexcept { return static_cast<std::int32_t>(count - number) >= 0; }

// Beyond this many messages, what a sender knows of `consumed` is too old.
inline constexpr Number kOldKnowledge = Number{1} << 30;

inline constexpr std::size_t kBoxSlotBytes = 2 * kCacheLine;
inline constexpr std::size_t kBoxSlots = 4;

// Number and start of the content share the slot's first line: a short message is one line's transfer.
struct alignas(kCacheLine) BoxSlot {
  std::atomic<Number> number;
  std::uint32_t head[3];  // the channel's
  std::byte payload[kBoxSlotBytes - 16];
};
static_assert(sizeof(BoxSlot) == kBoxSlotBytes && std::is_standard_layout_v<BoxSlot>);
static_assert(std::atomic<Number>::is_always_lock_free);

inline constexpr std::size_t kBoxPayloadBytes = sizeof(BoxSlot::payload);

struct Fastbox {
  BoxSlot slots[kBoxSlots];
};

struct alignas(kCacheLine) Consumed {
  std::atomic<Number> count;
  std::uint8_t padding[60];
};
static_assert(sizeof(Consumed) == kCacheLine);

// For each message that passes by the box: keeps what the sender knows young enough for its number to be compared.
inline void refresh(const Consumed& consumed, Number sent, Number& known) noexcept {
  if (sent - known >= kOldKnowledge) [[unlikely]]
    known = consumed.count.load(std::memory_order_acquire);  // done
}

// An address in one register: the compiler would keep a base and an index, which a caller without a stack frame has no
// registers for.
[[gnu::always_inline]] inline BoxSlot& slot_at(Fastbox& box, std::uint32_t turn) noexcept {
  BoxSlot* slot = &box.slots[turn % kBoxSlots];
#if defined(__GNUC__)
  __asm__("" : "+r"(slot));
#endif
  return *slot;
}

// The sender's private half.
struct BoxWriter {
  Number in_slot[kBoxSlots] = {};  // number of the last message put there
  std::uint32_t turn = 0;          // next slot

  // Returns whether next() is free. `known` is what the sender knows of `consumed`; it learns more here.
  [[gnu::always_inline]] bool has_room(const Consumed& consumed, Number& known) const noexcept {
    const Number last = in_slot[turn % kBoxSlots];
    if (reached(known, last)) [[likely]]
      return true;
    known = consumed.count.load(std::memory_order_acquire);  // done
    return reached(known, last);
  }
  BoxSlot& next(Fastbox& box) const noexcept { return slot_at(box, turn); }
  // Null when the slot is still in use.
  BoxSlot* try_claim(Fastbox& box, const Consumed& consumed, Number& known) noexcept {
    return has_room(consumed, known) ? &next(box) : nullptr;
  }
  std::uint32_t claimed() const noexcept { return turn % kBoxSlots; }
  void publish(BoxSlot& slot, Number number) noexcept {
    in_slot[turn++ % kBoxSlots] = number;
    slot.number.store(number, std::memory_order_release);  // box
  }
};

// The receiver's private half.
struct BoxReader {
  Number taken[kBoxSlots] = {};  // number of the last message taken from each slot
  std::uint32_t turn = 0;

  BoxSlot& next(Fastbox& box) const noexcept { return slot_at(box, turn); }
  // Returns whether next() holds message `number`.
  bool holds(const BoxSlot& slot, Number number) const noexcept {
    return slot.number.load(std::memory_order_acquire) == number && taken[turn % kBoxSlots] != number;  // box
  }
  // The slot that holds message `number`, null when it is not there (yet).
  BoxSlot* find(Fastbox& box, Number number) const noexcept {
    BoxSlot& slot = next(box);
    return holds(slot, number) ? &slot : nullptr;
  }
  // To be called when message `number`, which find() gave, has been read.
  void release(Number number) noexcept { taken[turn++ % kBoxSlots] = number; }
};

}  // namespace shmemx::nemesis
