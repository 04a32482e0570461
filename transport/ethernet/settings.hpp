// How an engine is set up.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "transport/ethernet/address.hpp"

namespace shmemx::ethernet {

struct Settings {
  EndpointAddress own;
  std::array<std::string, kMostInterfaces> names;  // of the interfaces
  std::uint32_t block_packets = 32;
  std::uint32_t blocks = 4;
  std::uint32_t most_blocks = 32;
  std::uint64_t resend_ns = 1'000'000;
  std::uint32_t ring_frames = 1024;  // of the ring that receives
};

}  // namespace shmemx::ethernet
