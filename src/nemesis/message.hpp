// A message between PEs of a node: what stands in front of its payload in a box or a cell, and what the receiver gets.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/bytes.hpp"
#include "nemesis/cell.hpp"
#include "nemesis/fastbox.hpp"
#include "nemesis/pair_line.hpp"

namespace shmemx::nemesis {

// In front of the payload in a box; fits BoxSlot::head.
struct BoxHeader {
  Number executed;  // how many of the receiver's messages the sender has executed
  std::uint8_t handler;
  std::uint8_t flags;   // 0
  std::uint16_t bytes;  // of the payload; kInCell: it lies in a cell
  std::uint32_t cell;   // kInCell: which cell of the sender
};
static_assert(sizeof(BoxHeader) == sizeof(BoxSlot::head));

// In front of the payload in a pair's line; fits PairLine::head.
struct LineHeader {
  Number number;
  Number executed;  // as in BoxHeader
  std::uint8_t handler;
  std::uint8_t flags;  // 0
  std::uint16_t bytes;
};
static_assert(sizeof(LineHeader) == sizeof(PairLine::head) && offsetof(LineHeader, number) == 0);

// What a receiver that waits for one message compares in both headers.
struct MessageKind {
  std::uint8_t handler;
  std::uint8_t flags;
  std::uint16_t bytes;
  bool operator==(const MessageKind& other) const noexcept {
    return std::bit_cast<std::uint32_t>(*this) == std::bit_cast<std::uint32_t>(other);
  }
};
// Read these fields of a header in shared memory, once each: its sender is not trusted.
template <class Header>
[[gnu::always_inline]] inline MessageKind kind_of(const std::uint32_t (&head)[3]) noexcept {
  static_assert(offsetof(Header, bytes) == offsetof(Header, handler) + offsetof(MessageKind, bytes));
  MessageKind kind;
  std::memcpy(&kind, reinterpret_cast<const std::byte*>(head) + offsetof(Header, handler), sizeof kind);
  return kind;
}
template <class Header>
[[gnu::always_inline]] inline Number executed_of(const std::uint32_t (&head)[3]) noexcept {
  return head[offsetof(Header, executed) / sizeof(Number)];
}

// BoxHeader::bytes of a payload in a cell. The slot's payload is its length, a BoxCellBytes; the cell has no
// CellHeader.
inline constexpr std::uint16_t kInCell = 0xffff;
using BoxCellBytes = std::uint32_t;
static_assert(kBoxPayloadBytes < kInCell);

// At the beginning of a cell; the payload follows.
struct CellHeader {
  Cell link;
  std::uint32_t target;
  std::uint32_t source;
  Number number;
  Number executed;  // how many of the target's messages the source has executed
  std::uint32_t bytes;
  std::uint8_t handler;
  std::uint8_t flags;                 // kUsesBox or 0
  std::atomic<std::uint16_t> filled;  // see shared_cell.hpp

  std::byte* payload() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  static CellHeader& of(Cell* cell) noexcept { return *reinterpret_cast<CellHeader*>(cell); }
};
static_assert(sizeof(CellHeader) == 32 && std::is_standard_layout_v<CellHeader>);

// CellHeader::flags: from the next message on, the source also sends through its box.
inline constexpr std::uint8_t kUsesBox = 0x01;

// What the receiver gets.
struct ShmMessage {
  int source;
  unsigned handler;  // not checked
  Bytes payload;     // 16-byte aligned
  Cell* cell;        // the cell that holds the payload; null for a message by a box or a shared cell, whose payload is
                     // valid during the call only
};

}  // namespace shmemx::nemesis
