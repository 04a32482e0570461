// What travels: packets of records. All parts lie at multiples of 16 bytes, so that a payload is aligned where it
// arrives. Words are in the machine's own order: the PEs of a job are of one kind.
#pragma once

#include <cstddef>
#include <cstdint>

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
using transport::Sent;
using transport::Setup;
using transport::Sink;
using transport::Transport;
using transport::TransportPtr;
using transport::Urgency;

inline constexpr std::size_t kAlign = 16;
constexpr std::size_t align_up(std::size_t bytes) noexcept { return (bytes + kAlign - 1) & ~(kAlign - 1); }

struct PacketHeader {
  std::uint64_t token;     // pair_token: of this source, for this target
  std::uint32_t source;    // the PE; kControl is added where the packet overtakes others
  std::uint32_t sequence;  // counts the packets of this pair that are no control packets
};
static_assert(sizeof(PacketHeader) == kAlign);
inline constexpr std::uint32_t kControl = std::uint32_t{1} << 31;

struct Record {
  enum Kind : std::uint32_t {
    message,   // header and payload follow
    announce,  // a payload that the receiver reads: Announcement and header follow
    farewell,  // nothing comes behind this
    // in control packets only
    finished,  // the payload `value` has been read
    ping,      // asks for a pong
    pong,
    farewell_seen,
  };
  Header fixed;
  std::uint32_t bytes;  // of what follows, before it is filled up to kAlign
  std::uint32_t kind;
};
static_assert(sizeof(Record) == kAlign);

struct Announcement {
  std::uint64_t id;  // the sender's name for it
  std::uint64_t payload_bytes;
  std::uint64_t address;  // of the payload, as RMA wants it
  std::uint64_t key;
};
static_assert(sizeof(Announcement) == 2 * kAlign);

struct ControlWord {
  std::uint64_t value;
  std::uint64_t unused;
};
static_assert(sizeof(ControlWord) == kAlign);

// A payload up to here travels in its packet and is copied at the receiver; longer ones are read by the receiver from
// where they lie.
inline constexpr std::size_t kEagerBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxPayloadBytes = std::size_t{1} << 36;

// A packet without a payload of its own: takes the longest message that is no long one.
inline constexpr std::size_t kPacketBytes =
    sizeof(PacketHeader) + sizeof(Record) + align_up(kMaxHeaderBytes + kLongBytes);
// Records are gathered up to here: providers with eager buffers have 16 KiB of them.
inline constexpr std::size_t kGatherBytes = (std::size_t{16} << 10) - 256;
inline constexpr std::size_t kMaxPacketBytes =
    sizeof(PacketHeader) + sizeof(Record) + align_up(kMaxHeaderBytes + kEagerBytes);

}  // namespace shmemx::ofi
