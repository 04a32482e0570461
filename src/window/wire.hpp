// Messages between who uses a window and its owner. A request names window and offset, never an address, and a ticket:
// the number of an entry that the sender keeps until the final answer.
#pragma once

#include <cstdint>

#include "windows/exposure.hpp"

namespace shmemx::window {

inline constexpr std::uint32_t kTickets = 256;  // requests of a PE that may be unanswered at once

// kWindowPut: the data follow. Parts of a put have the same ticket; only the last one is answered, and parts that fail.
struct PutRequest {
  windows::WindowName window;
  std::uint64_t offset;
  std::uint32_t ticket;
  std::uint32_t last;
};
static_assert(sizeof(PutRequest) == 24);

// kWindowGet: the answer carries the data.
struct GetRequest {
  windows::WindowName window;
  std::uint64_t offset;
  std::uint32_t ticket;
  std::uint32_t bytes;
};
static_assert(sizeof(GetRequest) == 24);

// kWindowAtomic: one element; the answer carries 8 bytes, what was there before in the low ones.
struct AtomicRequest {
  windows::WindowName window;
  std::uint64_t offset;
  std::uint64_t operand;
  std::uint64_t compare;
  std::uint32_t ticket;
  std::uint8_t type;  // atomic::ElementType
  std::uint8_t op;    // atomic::ElementOp
  std::uint16_t reserved;
};
static_assert(sizeof(AtomicRequest) == 40);

// kWindowAccumulate: `count` elements follow, none with no_op. Where they are fetched each part is answered, with the
// elements that were there before; else as for puts.
struct AccumulateRequest {
  windows::WindowName window;
  std::uint64_t offset;
  std::uint32_t ticket;
  std::uint32_t count;
  std::uint8_t type;
  std::uint8_t op;
  std::uint8_t exclusive;
  std::uint8_t fetch;
  std::uint32_t last;
};
static_assert(sizeof(AccumulateRequest) == 32);

// To a internode owner, so much goes in one message: of a put, of a get's answer; and elements of an accumulate, which
// the owner has to keep until it can answer.
inline constexpr std::uint64_t kInternodeBytes = std::uint64_t{16} << 20;
inline constexpr std::uint64_t kInternodeElementBytes = std::uint64_t{64} << 10;

enum class Outcome : std::uint32_t { ok = 0, stale = 1, range = 2, bad = 3 };

// kWindowReply: the data follow. After the final one the ticket is free.
struct Reply {
  std::uint32_t ticket;
  Outcome outcome;
  std::uint32_t final;
  std::uint32_t bytes;
};
static_assert(sizeof(Reply) == 16);

// A request leaves room for itself, an answer for a Reply.
inline constexpr std::uint64_t kLargestHead = sizeof(AtomicRequest);

}  // namespace shmemx::window
