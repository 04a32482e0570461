#include "transport/ethernet/address.hpp"

#include <cstddef>
#include <cstdio>
#include <cstring>

namespace shmemx::ethernet {
namespace {

constexpr std::size_t kHeadBytes = offsetof(EndpointAddress, macs);
static_assert(kHeadBytes == 12 && sizeof(EndpointAddress) == kHeadBytes + kMostInterfaces * sizeof(MacAddress));

constexpr std::size_t bytes_of(unsigned interfaces) { return kHeadBytes + interfaces * sizeof(MacAddress); }

}  // namespace

std::string pack_address(const EndpointAddress& address) {
  return {reinterpret_cast<const char*>(&address), bytes_of(address.interfaces)};
}

bool unpack_address(Bytes bytes, EndpointAddress& address) noexcept {
  address = {};
  if (bytes.size() < bytes_of(1) || bytes.size() > sizeof address) return false;
  std::memcpy(&address, bytes.data(), bytes.size());
  const bool has_interfaces = address.interfaces != 0 && address.interfaces <= kMostInterfaces;
  return has_interfaces && bytes.size() == bytes_of(address.interfaces) && address.mtu >= kLeastMtu &&
         address.mtu <= kMostMtu;
}

std::string mac_text(const MacAddress& mac) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
  return text;
}

}  // namespace shmemx::ethernet
