#include "transport/ofi/choice.hpp"

#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "transport/ofi/self_test.hpp"

namespace shmemx::ofi {
namespace {

constexpr std::size_t kTriesOfProvider = 2;

struct Offer {
  const fi_info* info;
  int provider;   // provider_preference(), the lowest first
  int interface;  // score, the highest first
};

// Reliable endpoints with ordered messages and RMA, manual progress, and any mode of registration.
Info make_hints(const Library& library, std::uint64_t extra_caps) {
  Info hints(library.dupinfo(nullptr), FreeInfo{&library});
  hints->caps = FI_MSG | FI_RMA | extra_caps;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT | FI_MR_RAW;
  return hints;
}

bool is_running(const char* interface) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;
  ifreq request{};
  std::strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
  const bool known = ::ioctl(fd, SIOCGIFFLAGS, &request) == 0;
  ::close(fd);
  return !known || (request.ifr_flags & IFF_RUNNING) != 0;
}

// Returns true for a bridge. It looks like a network, but other hosts have one with the same address.
bool is_bridge(const std::string& interface) {
  return ::access(("/sys/class/net/" + interface + "/bridge").c_str(), F_OK) == 0;
}

bool has_default_route(const std::string& interface) {
  std::ifstream routes("/proc/net/route");
  for (std::string line; std::getline(routes, line);) {
    std::istringstream fields(line);
    std::string name, destination;
    fields >> name >> destination;
    if (name == interface && destination == "00000000") return true;
  }
  return false;
}

constexpr int kUnusable = -1000;

// Rates the interface of an offer. Offers of hardware have no IP address and rate alike.
int interface_score(const fi_info& info) {
  const auto* address = static_cast<const sockaddr*>(info.src_addr);
  const bool is_ip =
      info.addr_format == FI_SOCKADDR_IN || info.addr_format == FI_SOCKADDR_IN6 || info.addr_format == FI_SOCKADDR;
  if (!is_ip || address == nullptr || info.domain_attr->name == nullptr) return 0;
  const std::string interface = info.domain_attr->name;
  if (!is_running(interface.c_str())) return kUnusable;
  int score = has_default_route(interface) ? 8 : 0;
  if (!is_bridge(interface)) score += 4;
  if (address->sa_family == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(address);
    return (ntohl(in->sin_addr.s_addr) >> 24) == 127 ? score - 100 : score + 2;
  }
  const auto* in6 = reinterpret_cast<const sockaddr_in6*>(address);
  if (IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr)) return score - 101;
  return IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) ? score - 50 : score;
}

bool is_same(const fi_info& a, const fi_info& b) {
  return std::strcmp(a.fabric_attr->prov_name, b.fabric_attr->prov_name) == 0 && a.src_addrlen == b.src_addrlen &&
         a.src_addr != nullptr && b.src_addr != nullptr && std::memcmp(a.src_addr, b.src_addr, a.src_addrlen) == 0;
}

void add_offers(const fi_info* list, bool chosen_by_user, std::vector<Offer>& offers) {
  for (const fi_info* info = list; info != nullptr; info = info->next) {
    const int preference = provider_preference(info->fabric_attr->prov_name, chosen_by_user);
    const int score = interface_score(*info);
    const bool is_repeated =
        std::any_of(offers.begin(), offers.end(), [&](const Offer& offer) { return is_same(*offer.info, *info); });
    if (preference >= 0 && score > kUnusable && !is_repeated) offers.push_back({info, preference, score});
  }
}

Result<Fabric> try_waiting(const Library& library, const fi_info& info, Waiting waiting) {
  SHMEMX_TRY_ASSIGN(fabric, open_fabric(library, info, waiting));
  SHMEMX_TRY(test_fabric(fabric));
  return fabric;
}

// Opens an offer. A fabric on whose descriptor no thread can sleep is better than none, and so is one without.
Result<Fabric> try_offer(const Library& library, const fi_info& info) {
  auto fabric = try_waiting(library, info, Waiting::on_queue);
  if (!fabric) {
    auto other = try_waiting(library, info, Waiting::on_nothing);
    return other ? std::move(other) : std::move(fabric);
  }
  if (comes_to_rest(*fabric)) return fabric;
  auto other = try_waiting(library, info, Waiting::on_set);
  return other && comes_to_rest(*other) ? std::move(other) : std::move(fabric);
}

Result<Choice> try_offers(const Library& library, const std::vector<Offer>& offers) {
  std::string causes;
  std::size_t tries = 0;
  const char* last = "";
  for (const Offer& offer : offers) {
    const char* provider = offer.info->fabric_attr->prov_name;
    tries = std::strcmp(provider, last) == 0 ? tries + 1 : 1;
    last = provider;
    if (tries > kTriesOfProvider) continue;
    auto fabric = try_offer(library, *offer.info);
    if (fabric) return Choice{std::move(*fabric), causes};
    const char* interface = offer.info->domain_attr->name != nullptr ? offer.info->domain_attr->name : "?";
    causes += (causes.empty() ? "" : "; ") + std::string(provider) + " on " + interface + ": " + fabric.error().text;
  }
  return Error{Errc::unsupported, 0, causes};
}

}  // namespace

int provider_preference(const char* provider, bool chosen_by_user) noexcept {
  const std::string_view name = provider;
  // Unfit without a test: they work within one machine only, keep no order, or are many times slower.
  constexpr std::array<std::string_view, 8> kUnfit = {"shm", "sm2",       "sockets", "udp",
                                                      "lnx", "ofi_mrail", "ofi_rxd", "net;ofi_rxm"};
  const auto is_part = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (std::any_of(kUnfit.begin(), kUnfit.end(), is_part)) return chosen_by_user ? 9 : -1;
  if (name == "net" || name == "tcp") return 1;
  if (name.starts_with("tcp")) return 2;
  return 0;
}

Result<Choice> choose_fabric(const Library& library) {
  const char* wish = std::getenv("FI_PROVIDER");
  const bool chosen_by_user = wish != nullptr && wish[0] != '\0' && wish[0] != '^';
  const std::uint32_t api = std::clamp(library.version(), kOldestApi, kNewestApi);
  std::vector<Info> lists;
  std::vector<Offer> offers;
  // Prefer receive buffers for many messages each. Not every provider has them.
  for (const std::uint64_t caps : {std::uint64_t{FI_MULTI_RECV}, std::uint64_t{0}}) {
    const Info hints = make_hints(library, caps);
    fi_info* list = nullptr;
    if (library.getinfo(api, nullptr, nullptr, 0, hints.get(), &list) != 0) continue;
    lists.emplace_back(list, FreeInfo{&library});
    add_offers(list, chosen_by_user, offers);
  }
  if (offers.empty())
    return Error{Errc::unsupported, 0,
                 "no provider has reliable endpoints with messages and RMA on a running interface"};
  std::stable_sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) {
    return a.provider != b.provider ? a.provider < b.provider : a.interface > b.interface;
  });
  return try_offers(library, offers);
}

}  // namespace shmemx::ofi
