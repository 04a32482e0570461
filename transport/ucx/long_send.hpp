// A long message until UCX has finished with it.
#pragma once

#include <array>
#include <memory>

#include "transport/ucx/peer.hpp"
#include "transport/ucx/wire.hpp"

namespace shmemx::ucx {

struct LongSend {
  Peer* peer = nullptr;
  Outgoing* outgoing = nullptr;  // null: the payload is `copy`, or `outgoing` is done already
  std::unique_ptr<std::byte[]> copy;
  std::size_t copied_bytes = 0;
  std::uint64_t position = 0;  // in the stream of messages to the peer
  std::size_t header_bytes = 0;
  std::array<std::byte, sizeof(LongHeader) + kMaxHeaderBytes> header;
};

}  // namespace shmemx::ucx
