// What travels: packets of records (transport/common/record.hpp). All parts lie at multiples of 16 bytes, so that a
// message is aligned where it arrives. Words are in the machine's own byte order: all PEs of a job have the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/common/handshake.hpp"
#include "transport/common/record.hpp"
#include "transport/transport.hpp"

namespace shmemx::ofi {

using transport::Bytes;
using transport::Completion;
using transport::EndpointAddresses;
using transport::Header;
using transport::kLongBytes;
using transport::kMaxAddressBytes;
using transport::kMaxHeaderBytes;
using transport::Outgoing;
using transport::Record;
using transport::Sent;
using transport::Setup;
using transport::Sink;
using transport::Transport;
using transport::TransportPtr;
using transport::Urgency;

struct PacketHeader {
  std::uint64_t proof;   // of the session, see common/session.hpp
  std::uint32_t source;  // the PE, with one of the two bits below
  // The lower half of the number among the control packets of this pair, or among the others; or a HandshakeKind.
  std::uint32_t sequence;
};
static_assert(sizeof(PacketHeader) == transport::kRecordAlign);
inline constexpr std::uint32_t kControl = std::uint32_t{1} << 31;    // the packet may overtake others
inline constexpr std::uint32_t kHandshake = std::uint32_t{1} << 30;  // a hello or a challenge follows, then padding
enum HandshakeKind : std::uint32_t { kHello = 1, kChallenge };

// Kinds of records beside transport::kMessageRecord.
enum RecordKind : std::uint32_t {
  kMessage = transport::kMessageRecord,
  kAnnounce,  // a payload that the receiver reads: Announcement and header follow
  kShutdown,  // the last record
  kInParts,   // a long payload that follows in parts: InParts and header follow. Until its end there are only
  kPart,      // these
  // In control packets only:
  kFinished,  // the receiver has read the payload `value`
  kPing,      // to be answered by kPong
  kPong,
  kShutdownSeen,
};

struct Announcement {
  std::uint64_t id;  // the sender's name for the payload
  std::uint64_t payload_bytes;
  std::uint64_t address;    // of the payload, in the form that RMA needs
  std::uint64_t key_bytes;  // of its key, which follows the handler's header
};
static_assert(sizeof(Announcement) == 2 * transport::kRecordAlign);

struct InParts {
  std::uint64_t payload_bytes;
  std::uint64_t unused;
};
static_assert(sizeof(InParts) == transport::kRecordAlign);

struct ControlWord {
  std::uint64_t value;
  std::uint64_t unused;
};
static_assert(sizeof(ControlWord) == transport::kRecordAlign);

// A payload up to here travels in its packet and is copied at the receiver. The receiver reads a longer one from the
// sender's memory.
inline constexpr std::size_t kEagerBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxPayloadBytes = std::size_t{1} << 36;

// A packet without a payload of its own has room for the longest short message.
inline constexpr std::size_t kPacketBytes =
    sizeof(PacketHeader) + transport::record_bytes(kMaxHeaderBytes + kLongBytes);
// Records are gathered up to here: providers with eager buffers have 16 KiB of them.
inline constexpr std::size_t kGatherBytes = (std::size_t{16} << 10) - 256;
inline constexpr std::size_t kMaxPacketBytes =
    sizeof(PacketHeader) + transport::record_bytes(kMaxHeaderBytes + kEagerBytes);

}  // namespace shmemx::ofi
