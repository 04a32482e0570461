// A message on the wire: a FrameHeader, the message's header and payload, zeros up to a multiple of 16. So each message
// begins at a multiple of 16 bytes of the stream; the receive buffer keeps that alignment in memory. All PEs of a job
// have one byte order.
#pragma once

#include "transport/transport.hpp"

namespace shmemx::tcp {

using transport::Bytes;
using transport::Header;
using transport::kLongBytes;
using transport::kMaxHeaderBytes;

enum class FrameKind : std::uint16_t {
  message = 0x4d53,
  // Without a message:
  shutdown = 0x4742,  // the last frame of the PE
  suspend = 0x5350,   // the last frame on the connection whose number it carries: the other side is to close that
  split = 0x5453,     // a message of which a part travels on the second rail; a SplitHeader is in front of its header
  part = 0x5054,      // the second part of such a message, behind a PartHeader; nothing else travels on a second rail
  // Not part of the stream: the first frame of a connection, from both sides; of the first one of a pair from the side
  // that has accepted it. See resume.hpp.
  resume = 0x5253,
};

struct FrameHeader {
  std::uint32_t message_bytes;  // header and payload, without padding
  FrameKind kind;
  std::uint16_t reserved;  // 0
  Header fixed;
};
static_assert(sizeof(FrameHeader) == 16);

struct SplitHeader {
  std::uint64_t number;         // of the split message, among those from this PE
  std::uint64_t payload_bytes;  // of both parts; the first one follows
};
static_assert(sizeof(SplitHeader) == 16);
// The header of a part; its payload is the second part of the split message's payload.
struct PartHeader {
  std::uint64_t number;  // of the split message
  std::uint64_t offset;  // in the payload
};

inline constexpr std::size_t kFrameAlignment = 16;
inline constexpr std::size_t kMaxPayloadBytes = std::size_t{1} << 30;

constexpr std::size_t padding_of(std::size_t message_bytes) { return -message_bytes & (kFrameAlignment - 1); }

}  // namespace shmemx::tcp
