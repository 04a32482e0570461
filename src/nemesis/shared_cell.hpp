// A shared cell: one that takes further short messages of its sender to the same PE while it lies in the receive queue.
// A PE that does not keep up, since it computes or has no core, thus costs its peers one cell for hundreds of messages,
// and finds them all at one look.
//
// `CellHeader::filled` says up to where the cell is filled, in kCellStep. The sender alone raises it. The receiver sets
// it to 0 when it has taken all of them: then the cell goes back, and the next message needs another one. A cell of one
// message has 0 from the beginning. Messages in a cell, in the box and in the line keep their order by their numbers;
// no other cell may leave for the same PE in between, so with that one the sender forgets this one.
//
// Edge:  filled  filled.compare_exchange -> filled.load   the messages in front of it
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bytes.hpp"
#include "nemesis/message.hpp"

namespace shmemx::nemesis {

// In front of the payload of a further message.
struct FurtherHeader {
  Number number;
  Number executed;  // as in BoxHeader
  std::uint16_t bytes;
  std::uint8_t handler;
  std::uint8_t flags;  // 0
  std::uint32_t reserved;
};
inline constexpr std::size_t kCellStep = 16;  // payloads are aligned to it
static_assert(sizeof(FurtherHeader) == kCellStep && sizeof(CellHeader) % kCellStep == 0);

constexpr std::size_t steps_of(std::size_t bytes) noexcept { return (bytes + kCellStep - 1) / kCellStep; }

// Longer messages have a cell of their own.
inline constexpr std::size_t kSharedBytes = kBoxPayloadBytes;

// The cell to a PE that its sender may still add to. The sender's private half; zeros: none.
struct OpenCell {
  std::uint32_t name = 0;  // the index of the cell, plus 1
  std::uint16_t end = 0;   // what its `filled` was when the sender last wrote it

  // Returns whether the cell, whose header this is, still takes messages to `pe`: it may have come back meanwhile, and
  // gone to another PE or behind a box.
  bool is_open(const CellHeader& cell, int pe) const noexcept {
    return cell.target == static_cast<std::uint32_t>(pe) && cell.filled.load(std::memory_order_relaxed) == end;
  }
  // Adds a message. Returns false if it does not fit, or if the receiver has given the cell back meanwhile. Requires
  // is_open().
  bool append(CellHeader& cell, std::size_t cell_bytes, const FurtherHeader& further, Bytes header,
              Bytes payload) noexcept {
    const std::size_t next = end + steps_of(sizeof further + further.bytes);
    if (next > std::min<std::size_t>(cell_bytes / kCellStep, UINT16_MAX)) return false;
    std::byte* const at = reinterpret_cast<std::byte*>(&cell) + end * kCellStep;
    std::memcpy(at, &further, sizeof further);
    copy_short(at + sizeof further, header.data(), header.size());
    copy_short(at + sizeof further + header.size(), payload.data(), payload.size());
    const auto filled = static_cast<std::uint16_t>(next);
    std::uint16_t expected = end;
    if (!cell.filled.compare_exchange_strong(expected, filled, std::memory_order_release, std::memory_order_relaxed))
      return false;  // filled
    end = filled;
    return true;
  }
};

// What the receiver finds behind the last message that it has taken. Nothing: then the cell is closed.
enum class Further : std::uint8_t { nothing, message, damage };

// The receiver's look at a shared cell, behind its first message.
class FurtherMessages {
 public:
  FurtherMessages(CellHeader& cell, std::size_t cell_bytes) noexcept
      : cell_(cell), at_(steps_of(sizeof cell + cell.bytes)), most_(cell_bytes / kCellStep), filled_(at_) {}

  // Copies the header of the next message.
  Further next(FurtherHeader& further) noexcept {
    if (at_ == filled_) {
      auto filled = static_cast<std::uint16_t>(at_);
      if (cell_.filled.load(std::memory_order_relaxed) == filled &&
          cell_.filled.compare_exchange_strong(filled, 0, std::memory_order_relaxed))
        return Further::nothing;
      filled_ = cell_.filled.load(std::memory_order_acquire);  // filled
    }
    if (filled_ > most_ || at_ >= filled_) return Further::damage;
    std::memcpy(&further, first(), sizeof further);
    if (further.bytes > kSharedBytes || at_ + steps_of(sizeof further + further.bytes) > filled_)
      return Further::damage;
    return Further::message;
  }
  Bytes payload(const FurtherHeader& further) const noexcept { return {first() + sizeof further, further.bytes}; }
  void pass(const FurtherHeader& further) noexcept { at_ += steps_of(sizeof further + further.bytes); }

 private:
  const std::byte* first() const noexcept { return reinterpret_cast<const std::byte*>(&cell_) + at_ * kCellStep; }

  CellHeader& cell_;
  std::size_t at_;  // in kCellStep
  const std::size_t most_;
  std::size_t filled_;  // as far as it has been seen
};

}  // namespace shmemx::nemesis
