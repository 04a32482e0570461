// What active messages carry. All PEs of a job have one byte order.
//
//   kRecords   data: Envelope, then records: RecordHead, payload, padded to 16 bytes
//   kLong      header: LongHead, then the message's header; data: the payload
//   kGoodbye, kPing, kPong   data: Envelope
//
// Those with a number in their envelope (all but the last two) are taken in the order of the numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/transport.hpp"

namespace shmemx::ucx {

using transport::Bytes;
using transport::Completion;
using transport::EndpointAddresses;
using transport::Header;
using transport::kLongBytes;
using transport::kMaxAddressBytes;
using transport::kMaxHeaderBytes;
using transport::kMaxKeyBytes;
using transport::kPlacedEarly;
using transport::Outgoing;
using transport::Sent;
using transport::Setup;
using transport::Sink;
using transport::Transport;
using transport::TransportPtr;
using transport::Urgency;

enum Kind : unsigned { kRecords = 1, kLong, kGoodbye, kPing, kPong };

struct Envelope {
  std::uint64_t proof;
  std::uint32_t source;
  std::uint32_t number;
};
static_assert(sizeof(Envelope) == 16);

struct RecordHeader {
  Header fixed;
  std::uint32_t bytes;  // of the payload, without padding
  std::uint32_t zero;
};
static_assert(sizeof(RecordHeader) == 16);

struct LongHeader {
  Envelope envelope;
  Header fixed;
  std::uint64_t payload_bytes;
};
static_assert(sizeof(LongHeader) == 32);

inline constexpr std::size_t kRecordAlign = 16;

constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + kRecordAlign - 1) & ~(kRecordAlign - 1); }

inline constexpr std::size_t kLargestRecord = sizeof(RecordHeader) + padded(kMaxHeaderBytes + kLongBytes);

}  // namespace shmemx::ucx
