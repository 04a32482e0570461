// What active messages carry. All PEs of a job have one byte order.
//
//   kRecords   data: Envelope, then records: RecordHead, payload, padded to 16 bytes
//   kLong      header: LongHead, then the message's header; data: the body
//   kGoodbye, kPing, kPong   data: Envelope
//
// Those with a number in their envelope (all but the last two) are taken in the order of the numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/transport.hpp"

namespace shmemx::transport::ucx {

enum Kind : unsigned { kRecords = 1, kLong, kGoodbye, kPing, kPong };

struct Envelope {
  std::uint64_t proof;
  std::uint32_t source;
  std::uint32_t number;
};
static_assert(sizeof(Envelope) == 16);

struct RecordHead {
  Head head;
  std::uint32_t bytes;  // of the payload, without padding
  std::uint32_t zero;
};
static_assert(sizeof(RecordHead) == 16);

struct LongHead {
  Envelope envelope;
  Head head;
  std::uint64_t body_bytes;
};
static_assert(sizeof(LongHead) == 32);

inline constexpr std::size_t kRecordAlign = 16;

constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + kRecordAlign - 1) & ~(kRecordAlign - 1); }

inline constexpr std::size_t kLargestRecord = sizeof(RecordHead) + padded(kMaxHeaderBytes + kLongBytes);

}  // namespace shmemx::transport::ucx
