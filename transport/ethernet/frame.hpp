// A frame on the wire: Ethernet header, FrameHeader, content. No IP. All PEs of a job have one byte order.
//
// Contents:
//  - records: messages, parts of messages, and notes (RecordKind), in the form of common/record.hpp. These frames are
//    numbered for each pair, sent again until they are acknowledged, and taken in the order of their numbers.
//  - pull: a PullRequest for packets of a long payload, whose handle was announced by a record.
//  - block: one packet of that payload. Those that follow the announcement have the request number 0.
//  - ack, gone: none.
// Every frame carries the acknowledgement of what its sender has received, and a serial: one that arrives again, by
// whomever it was sent, is dropped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/transport.hpp"

namespace shmemx::ethernet {

using transport::Bytes;
using transport::Header;
using transport::kLongBytes;
using transport::kMaxHeaderBytes;

using MacAddress = std::array<std::uint8_t, 6>;

inline constexpr std::uint16_t kEtherType = 0x88b5;  // IEEE 802: local experimental

struct EthernetHeader {
  MacAddress target;
  MacAddress source;
  std::uint8_t type[2] = {kEtherType >> 8, kEtherType & 0xff};
};
static_assert(sizeof(EthernetHeader) == 14);

enum class FrameKind : std::uint8_t {
  records = 1,
  ack = 2,
  pull = 3,
  block = 4,
  gone = 5,  // the endpoint has ended without a shutdown record
};

// In FrameHeader::flags: the sender waits for an acknowledgement.
inline constexpr std::uint8_t kAckNow = 0x01;

struct FrameHeader {
  std::uint32_t port = 0;    // of the target's endpoint; other frames do not pass its filter
  std::uint32_t source = 0;  // the sender's PE
  std::uint32_t life = 0;    // of the sender's endpoint: frames of an earlier one have another
  FrameKind kind = FrameKind::ack;
  std::uint8_t flags = 0;
  std::uint16_t bytes = 0;        // of the content
  std::uint64_t number = 0;       // records: of the frame, from 0 on; pull, block: handle of the payload; 0 in others
  std::uint64_t serial : 48 = 0;  // of all frames of this life to this target, from 1 on; one sent again has a new one
  std::uint64_t interface : 8 = 0;  // of the sender, over which it has left
  std::uint64_t window : 8 = 1;     // records frames that the receiver of this may have in flight; not 0
  std::uint64_t expected = 0;       // the sender has all records frames below this number
  std::uint64_t received = 0;       // bit i: it has expected + 1 + i, too
  std::uint32_t index = 0;          // block: number of the packet; 0 in others
  std::uint32_t request = 0;        // block: number of the request; 0 in others
  std::uint64_t proof = 0;          // a keyed hash of all of the above and of the content
};
static_assert(sizeof(FrameHeader) == 64);
inline constexpr std::uint64_t kMostSerial = (std::uint64_t{1} << 48) - 1;  // not in nine years of a million a second
inline constexpr std::uint32_t kMostWindow = 0xff;

struct PullRequest {
  std::uint32_t first;   // packet
  std::uint32_t number;  // of the request
  std::uint64_t wanted;  // bit i: packet first + i
};
static_assert(sizeof(PullRequest) == 16);
inline constexpr std::uint32_t kMostBlockPackets = 64;
// Returns a mask of the first `n` packets of a block.
inline std::uint64_t lowest_bits(std::uint32_t n) noexcept {
  return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
}

// The low bits of Record::kind; the high ones are the length of the whole message for `first_part`.
enum class RecordKind : std::uint8_t {
  message = 0,     // header and payload
  first_part = 1,  // of a message that fills several frames; its other parts follow at once
  next_part = 2,
  announced = 3,  // an Announcement and the header of a message whose payload is to be pulled
  pulled = 4,     // a handle: its payload has been pulled completely
  shutdown = 5,   // the last record of the PE
};
inline constexpr unsigned kRecordKindBits = 8;

struct Announcement {
  std::uint64_t handle;
  std::uint32_t payload_bytes;
  std::uint32_t pushed;  // packets of it that follow at once, without a request: the first ones
};
static_assert(sizeof(Announcement) == 16);

// Longer payloads are pulled. The sender of a message that waits for nothing may leave the library at once, and what is
// pulled would then wait for its next call; so this holds all that two-sided messages send without a rendezvous.
inline constexpr std::size_t kMediumBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxPayloadBytes = std::size_t{1} << 30;
inline constexpr std::size_t kLeastMtu = 640;  // an announcement with the longest header fits into a frame
inline constexpr std::size_t kMostMtu = 9000;

// Bytes of a content at most, in frames of this MTU. Records and packets begin at multiples of 16 of it.
constexpr std::size_t content_bytes_of(std::size_t mtu) noexcept { return (mtu - sizeof(FrameHeader)) / 16 * 16; }

}  // namespace shmemx::ethernet
