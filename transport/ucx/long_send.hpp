// A long message until UCX has finished with it.
#pragma once

#include <array>
#include <cstring>
#include <memory>

#include "transport/ucx/peer.hpp"
#include "transport/ucx/wire.hpp"

namespace shmemx::ucx {

// What travels in front of a long payload.
struct LongPrefix {
  LongPrefix(const Envelope& envelope, const Header& fixed, Bytes header, std::size_t payload_bytes) noexcept
      : used(sizeof(LongHeader) + header.size()) {
    const LongHeader long_header{envelope, fixed, payload_bytes};
    std::memcpy(bytes.data(), &long_header, sizeof long_header);
    if (!header.empty()) std::memcpy(bytes.data() + sizeof long_header, header.data(), header.size());
  }

  std::size_t used;
  std::array<std::byte, sizeof(LongHeader) + kMaxHeaderBytes> bytes;
};

struct LongSend {
  LongSend(const Envelope& envelope, const Header& fixed, Bytes header, std::size_t payload_bytes) noexcept
      : prefix(envelope, fixed, header, payload_bytes) {}

  Peer* peer = nullptr;
  Outgoing* outgoing = nullptr;  // null: the payload is `copy`, or `outgoing` is done already
  std::unique_ptr<std::byte[]> copy;
  std::size_t copied_bytes = 0;
  std::uint64_t position = 0;  // in the stream of messages to the peer
  LongPrefix prefix;
};

}  // namespace shmemx::ucx
