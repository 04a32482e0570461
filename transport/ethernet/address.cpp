#include "transport/ethernet/address.hpp"

#include <cstdio>
#include <cstring>

namespace shmemx::ethernet {

static_assert(sizeof(EndpointAddress) == 16);

std::string pack_address(const EndpointAddress& address) {
  return {reinterpret_cast<const char*>(&address), sizeof address};
}

bool unpack_address(Bytes bytes, EndpointAddress& address) noexcept {
  if (bytes.size() != sizeof address) return false;
  std::memcpy(&address, bytes.data(), sizeof address);
  return address.mtu >= kLeastMtu && address.mtu <= kMostMtu;
}

std::string mac_text(const MacAddress& mac) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
  return text;
}

}  // namespace shmemx::ethernet
