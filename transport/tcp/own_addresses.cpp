#include "transport/tcp/own_addresses.hpp"

#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>

namespace shmemx::tcp {

namespace {

unsigned prefix_of(const sockaddr* mask) noexcept {
  if (mask == nullptr) return 0;
  const Address bits = from_sockaddr(mask);
  unsigned n = 0;
  for (const std::uint8_t byte : bits.bytes) n += static_cast<unsigned>(__builtin_popcount(byte));
  return n;
}

}  // namespace

std::vector<LocalAddress> all_local_addresses() {
  std::vector<LocalAddress> found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const sockaddr* const address = entry->ifa_addr;
    if (address == nullptr || (address->sa_family != AF_INET && address->sa_family != AF_INET6)) continue;
    const bool is_ready = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_RUNNING) != 0;
    LocalAddress local{from_sockaddr(address), entry->ifa_name, ::if_nametoindex(entry->ifa_name), is_ready};
    local.address.prefix_bits = static_cast<std::uint8_t>(prefix_of(entry->ifa_netmask));
    found.push_back(std::move(local));
  }
  ::freeifaddrs(list);
  return found;
}

std::vector<LocalAddress> local_addresses() {
  std::vector<LocalAddress> found = all_local_addresses();
  std::erase_if(found, [](const LocalAddress& local) { return !local.is_ready; });
  return found;
}

bool OwnAddresses::look(std::uint64_t now_ns) {
  if (now_ns < next_look_ns_) return false;
  next_look_ns_ = now_ns + kLookNs;
  for (LocalAddress& local : all_local_addresses()) {
    const auto known = std::find_if(list_.begin(), list_.end(), [&local](const LocalAddress& one) {
      return one.index == local.index && one.address.same_host_as(local.address);
    });
    if (known == list_.end()) {
      list_.push_back(std::move(local));
    } else {
      known->is_ready = known->is_ready || local.is_ready;
    }
  }
  return true;
}

std::string OwnAddresses::interface_with(const Address& address) const {
  const auto found = std::find_if(list_.begin(), list_.end(), [&address](const LocalAddress& local) {
    return local.address.same_host_as(address);
  });
  return found == list_.end() ? std::string{} : found->interface;
}

}  // namespace shmemx::tcp
