#include "hosts.hpp"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "base/clock.hpp"
#include "bootstrap/wire.hpp"

namespace shmemx::launcher {
namespace {

Error bad_host(const std::string& word, const std::string& why) {
  return Error{Errc::invalid_argument, 0, "host '" + word + "': " + why + "; allowed are NAME and NAME:NUMBER_OF_PES"};
}

// -1 when it is none.
int positive_number(const std::string& text) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  const bool plain = !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0 && *end == '\0';
  return plain && value >= 1 && value <= bootstrap::kMaxNodePes ? static_cast<int>(value) : -1;
}

// Names end up on a command line and, with some launchers, in a shell.
bool is_plain_name(const std::string& name) {
  if (name.empty() || name[0] == '-') return false;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && std::strchr(".-_", c) == nullptr) return false;
  }
  return true;
}

Result<Host> parse_host(const std::string& word) {
  const std::size_t colon = word.find(':');
  Host host{word.substr(0, colon), 0};
  if (!is_plain_name(host.name)) return bad_host(word, "not a name");
  if (colon == std::string::npos) return host;
  host.n_pes = positive_number(word.substr(colon + 1));
  if (host.n_pes < 0) {
    return bad_host(word, "not a number of PEs in 1.." + std::to_string(bootstrap::kMaxNodePes));
  }
  return host;
}

bool same_address(const sockaddr* a, const sockaddr* b) {
  if (a->sa_family != b->sa_family) return false;
  if (a->sa_family == AF_INET) {
    return std::memcmp(&reinterpret_cast<const sockaddr_in*>(a)->sin_addr,
                       &reinterpret_cast<const sockaddr_in*>(b)->sin_addr, sizeof(in_addr)) == 0;
  }
  return a->sa_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6*>(a)->sin6_addr,
                     &reinterpret_cast<const sockaddr_in6*>(b)->sin6_addr, sizeof(in6_addr)) == 0;
}

bool has_own_address(const addrinfo* found) {
  ifaddrs* own = nullptr;
  if (::getifaddrs(&own) != 0) return false;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> own_guard(own, ::freeifaddrs);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    for (const ifaddrs* interface = own; interface != nullptr; interface = interface->ifa_next) {
      if (interface->ifa_addr != nullptr && same_address(one->ai_addr, interface->ifa_addr)) return true;
    }
  }
  return false;
}

bool is_own_name(const std::string& host) {
  char name[65] = "";
  (void)!::gethostname(name, sizeof name - 1);
  const std::string own = name;
  return host == "localhost" || host == own || host == own.substr(0, own.find('.'));
}

// Waits until all requests are answered, at most `limit_ms`.
void await(const std::vector<gaicb*>& requests, int limit_ms) {
  const std::uint64_t end_ns = now_ns() + static_cast<std::uint64_t>(limit_ms) * 1'000'000;
  for (;;) {
    std::vector<const gaicb*> open;
    std::copy_if(requests.begin(), requests.end(), std::back_inserter(open),
                 [](gaicb* request) { return ::gai_error(request) == EAI_INPROGRESS; });
    const std::uint64_t now = now_ns();
    if (open.empty() || now >= end_ns) return;
    const std::uint64_t left = end_ns - now;
    const timespec limit{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
    ::gai_suspend(open.data(), static_cast<int>(open.size()), &limit);
  }
}

}  // namespace

Result<std::vector<Host>> parse_hosts(const std::string& list) {
  std::vector<Host> hosts;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    SHMEMX_TRY_ASSIGN(host, parse_host(list.substr(at, end - at)));
    hosts.push_back(std::move(host));
    at = end + 1;
  }
  return hosts;
}

Result<std::vector<Host>> read_hostfile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return system_error("cannot read the host file " + path);
  std::vector<Host> hosts;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    SHMEMX_TRY_ASSIGN(host, parse_host(word));
    while (words >> word) {
      constexpr std::string_view kSlots = "slots=";
      if (word.compare(0, kSlots.size(), kSlots) != 0) continue;  // other launchers know more words
      host.n_pes = positive_number(word.substr(kSlots.size()));
      if (host.n_pes < 0) return bad_host(line, "not a number of PEs");
    }
    hosts.push_back(std::move(host));
  }
  if (hosts.empty()) return Error{Errc::invalid_argument, 0, "the host file " + path + " names no host"};
  return hosts;
}

std::vector<HostFound> look_up(const std::vector<Host>& hosts, int limit_ms) {
  std::vector<HostFound> found;
  for (const Host& host : hosts) found.push_back({host.name, is_own_name(host.name), {}});
  std::vector<gaicb*> requests;
  std::vector<HostFound*> asked;
  for (HostFound& host : found) {
    if (host.is_this_machine) continue;
    auto* request = new gaicb{};
    request->ar_name = ::strdup(host.name.c_str());  // one that gets no answer in time keeps both
    requests.push_back(request);
    asked.push_back(&host);
  }
  if (requests.empty()) return found;
  const int refused = ::getaddrinfo_a(GAI_NOWAIT, requests.data(), static_cast<int>(requests.size()), nullptr);
  if (refused == 0) await(requests, limit_ms);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const int error = refused != 0 ? refused : ::gai_error(requests[i]);
    if (error == EAI_INPROGRESS) {
      asked[i]->problem = "no answer within " + std::to_string(limit_ms / 1000) + " s";
      continue;
    }
    if (error != 0) asked[i]->problem = ::gai_strerror(error);
    if (error == 0) asked[i]->is_this_machine = has_own_address(requests[i]->ar_result);
    if (error == 0) ::freeaddrinfo(requests[i]->ar_result);
    ::free(const_cast<char*>(requests[i]->ar_name));
    delete requests[i];
  }
  return found;
}

}  // namespace shmemx::launcher
