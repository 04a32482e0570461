// What active messages carry. All PEs of a job have one byte order.
//
//   kRecords   data: Envelope, then records (transport/common/record.hpp)
//   kLong      header: LongHeader, then the message's header; data: the payload
//   kShutdown, kPing, kPong   data: Envelope
//
// All but the last two have a number in their envelope and are taken in the order of the numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/common/record.hpp"
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
using transport::Outgoing;
using transport::Sent;
using transport::Setup;
using transport::Sink;
using transport::Transport;
using transport::TransportPtr;
using transport::Urgency;

enum Kind : unsigned { kRecords = 1, kLong, kShutdown, kPing, kPong };

struct Envelope {
  std::uint64_t proof;  // transport::PairProofs
  std::uint32_t source;
  std::uint32_t number;
};
static_assert(sizeof(Envelope) == 16);

struct LongHeader {
  Envelope envelope;
  Header fixed;
  std::uint64_t payload_bytes;
};
static_assert(sizeof(LongHeader) == 32);

}  // namespace shmemx::ucx
