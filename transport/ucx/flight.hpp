// What lives until UCX has finished with an active message.
#pragma once

#include <array>
#include <memory>

#include "transport/ucx/peer.hpp"
#include "transport/ucx/wire.hpp"

namespace shmemx::ucx {

struct LongFlight {
  Peer* peer = nullptr;
  Outgoing* outgoing = nullptr;  // null: the payload is `copy`, or nobody waits any more
  std::unique_ptr<std::byte[]> copy;
  std::size_t copied_bytes = 0;
  std::size_t header_bytes = 0;
  std::array<std::byte, sizeof(LongHeader) + kMaxHeaderBytes> header;
};

}  // namespace shmemx::ucx
