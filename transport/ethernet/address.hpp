// The endpoint address: what another PE needs to send frames to this one, and to recognise its frames.
#pragma once

#include <string>

#include "transport/ethernet/frame.hpp"

namespace shmemx::ethernet {

// Of a PE: each leads to another network, or is a second one of the same.
inline constexpr unsigned kMostInterfaces = 4;

struct EndpointAddress {
  std::uint32_t port = 0;
  std::uint32_t life = 0;
  std::uint16_t mtu = 0;  // of all interfaces
  std::uint16_t interfaces = 0;
  std::array<MacAddress, kMostInterfaces> macs{};  // by FrameHeader::interface; the others are zeros
};

std::string pack_address(const EndpointAddress& address);
// Returns false if the bytes are no endpoint address.
bool unpack_address(Bytes bytes, EndpointAddress& address) noexcept;
// "02:42:ac:11:00:02"
std::string mac_text(const MacAddress& mac);

}  // namespace shmemx::ethernet
