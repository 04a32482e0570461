#include "transport/ethernet/interface.hpp"

#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "base/unique_fd.hpp"
#include "transport/ethernet/address.hpp"

namespace shmemx::ethernet {
namespace {

struct FreeList {
  void operator()(ifaddrs* list) const noexcept { ::freeifaddrs(list); }
};

struct Seen {
  Interface interface;
  bool is_ethernet = false;
  bool has_link = false;
  bool has_address = false;
};

bool has_entry(const std::string& interface, const char* entry) {
  return ::access(("/sys/class/net/" + interface + "/" + entry).c_str(), F_OK) == 0;
}

void note(const ifaddrs& entry, Seen& seen) {
  seen.has_link = (entry.ifa_flags & IFF_UP) != 0 && (entry.ifa_flags & IFF_RUNNING) != 0;
  seen.interface.is_loopback = (entry.ifa_flags & IFF_LOOPBACK) != 0;
  if (entry.ifa_addr->sa_family != AF_PACKET) {
    seen.has_address = true;
    return;
  }
  sockaddr_ll link{};
  std::memcpy(&link, entry.ifa_addr, sizeof link);
  seen.is_ethernet = (link.sll_hatype == ARPHRD_ETHER || link.sll_hatype == ARPHRD_LOOPBACK) && link.sll_halen == 6;
  seen.interface.index = link.sll_ifindex;
  std::copy_n(link.sll_addr, seen.interface.mac.size(), seen.interface.mac.begin());
}

Result<std::vector<Seen>> all_interfaces() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return system_error("list the network interfaces");
  const std::unique_ptr<ifaddrs, FreeList> list(first);
  std::map<std::string, Seen> by_name;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    Seen& seen = by_name[entry->ifa_name];
    seen.interface.name = entry->ifa_name;
    note(*entry, seen);
  }
  std::vector<Seen> found;
  for (auto& [name, seen] : by_name) found.push_back(std::move(seen));
  return found;
}

// How well an interface suits; 0: not at all.
int suitability(const Seen& seen, bool one_machine) {
  if (!seen.is_ethernet || !seen.has_link || seen.interface.is_loopback != one_machine) return 0;
  if (one_machine) return 1;
  if (has_entry(seen.interface.name, "bridge") || has_entry(seen.interface.name, "tun_flags")) return 0;
  return 1 + (seen.has_address ? 1 : 0) + (has_entry(seen.interface.name, "device") ? 2 : 0);
}

Status read_mtu(Interface& interface) {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const UniqueFd packet(socket.valid() ? -1 : ::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  interface.name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  if (::ioctl(socket.valid() ? socket.get() : packet.get(), SIOCGIFMTU, &request) != 0)
    return system_error("read the MTU of " + interface.name);
  interface.mtu = static_cast<std::size_t>(request.ifr_mtu);
  return {};
}

std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= names.size();) {
    const std::size_t end = std::min(names.find(',', at), names.size());
    out.push_back(names.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

Result<std::vector<Interface>> named_interfaces(const std::vector<Seen>& found, const std::string& names) {
  std::vector<Interface> out;
  bool has_link = false;
  for (const std::string& name : split(names)) {
    const auto named =
        std::find_if(found.begin(), found.end(), [&](const Seen& seen) { return seen.interface.name == name; });
    const std::string setting = "SHMEMX_ETH_INTERFACE names '" + name + "', ";
    if (named == found.end()) return Error{Errc::invalid_argument, 0, setting + "which this host does not have"};
    if (!named->is_ethernet) return Error{Errc::unsupported, 0, setting + "which is no Ethernet interface"};
    has_link = has_link || named->has_link;
    out.push_back(named->interface);
    SHMEMX_TRY(read_mtu(out.back()));
  }
  if (!has_link) return Error{Errc::unsupported, 0, "SHMEMX_ETH_INTERFACE names '" + names + "', which is down"};
  return out;
}

}  // namespace

Result<std::vector<Interface>> choose_interfaces(const std::string& names, bool one_machine) {
  SHMEMX_TRY_ASSIGN(found, all_interfaces());
  if (!names.empty()) return named_interfaces(found, names);
  std::stable_sort(found.begin(), found.end(), [&](const Seen& one, const Seen& other) {
    const int suits_one = suitability(one, one_machine);
    const int suits_other = suitability(other, one_machine);
    return suits_one != suits_other ? suits_one > suits_other : one.interface.index < other.interface.index;
  });
  const int best = found.empty() ? 0 : suitability(found.front(), one_machine);
  if (best == 0) return Error{Errc::unsupported, 0, "no Ethernet interface with a link was found"};
  std::vector<Interface> out;
  for (Seen& seen : found) {
    if (!out.empty() && (one_machine || !seen.has_address || suitability(seen, one_machine) != best)) continue;
    SHMEMX_TRY(read_mtu(seen.interface));
    const bool is_narrow = !out.empty() && std::min(seen.interface.mtu, kMostMtu) < std::min(out.front().mtu, kMostMtu);
    if (!is_narrow && out.size() < kMostInterfaces) out.push_back(std::move(seen.interface));
  }
  return out;
}

}  // namespace shmemx::ethernet
