// What active messages carry. All PEs of a job have one byte order.
//
//   kRecords   data: Envelope, then records (transport/common/record.hpp)
//   kLong      header: LongHeader, then the message's header; data: the payload
//   kShutdown, kPing, kPong   data: Envelope
//   kHello      data: transport::Hello
//   kChallenge  data: ChallengeMessage
//
// The first three have a number in their envelope and are taken in the order of the numbers. kPing and kPong have
// numbers of their own, and only larger ones than the last are taken. The last two begin a session.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/common/handshake.hpp"
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

enum Kind : unsigned { kRecords = 1, kLong, kShutdown, kPing, kPong, kHello, kChallenge };

struct Envelope {
  std::uint64_t proof;  // of the session, see common/session.hpp
  std::uint32_t source;
  std::uint32_t number;  // the lower half
};
static_assert(sizeof(Envelope) == 16);

struct LongHeader {
  Envelope envelope;
  Header fixed;
  std::uint64_t payload_bytes;
};
static_assert(sizeof(LongHeader) == 32);

struct ChallengeMessage {
  std::uint64_t source;
  transport::Challenge challenge;
};
static_assert(sizeof(ChallengeMessage) == 48);

}  // namespace shmemx::ucx
