#include "hosts.hpp"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <utility>

#include "base/host_name.hpp"
#include "bootstrap/wire.hpp"

namespace shmemx::launcher {
namespace {

Error bad_host(const std::string& word, const std::string& why) {
  return Error{Errc::invalid_argument, 0, "host '" + word + "': " + why + "; allowed are NAME and NAME:NUMBER_OF_PES"};
}

// Returns -1 if the text is not a positive number.
int positive_number(const std::string& text) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  const bool plain = !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0 && *end == '\0';
  return plain && value >= 1 && value <= bootstrap::kMaxNodePes ? static_cast<int>(value) : -1;
}

// Returns true if the name is safe on a command line and in the shell that some launchers use.
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
  const std::string own = host_name().text;
  return host == "localhost" || host == own || host == own.substr(0, own.find('.'));
}

// Names that several threads look up. The threads share ownership, since a thread without an answer outlives the
// wait.
struct LookUp {
  std::vector<HostFound> hosts;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::condition_variable answered;
  std::size_t open = 0;            // hosts without an answer
  std::vector<bool> has_answer{};  // by host
};

HostFound asked(HostFound host) {
  if (host.is_this_machine) return host;
  addrinfo* addresses = nullptr;
  const int error = ::getaddrinfo(host.name.c_str(), nullptr, nullptr, &addresses);
  if (error != 0) {
    host.problem = ::gai_strerror(error);
    return host;
  }
  host.is_this_machine = has_own_address(addresses);
  ::freeaddrinfo(addresses);
  return host;
}

void answer_some(LookUp& look_up) {
  for (std::size_t i; (i = look_up.next.fetch_add(1, std::memory_order_relaxed)) < look_up.hosts.size();) {
    HostFound found = asked(HostFound{look_up.hosts[i].name, look_up.hosts[i].is_this_machine, {}});
    const std::lock_guard guard(look_up.mutex);
    look_up.hosts[i].is_this_machine = found.is_this_machine;
    look_up.hosts[i].problem = std::move(found.problem);
    look_up.has_answer[i] = true;
    if (--look_up.open == 0) look_up.answered.notify_all();
  }
}

// Owns one share of the look-up, which the creator made for this thread.
void* look_up_thread(void* share) {
  const std::unique_ptr<std::shared_ptr<LookUp>> own(static_cast<std::shared_ptr<LookUp>*>(share));
  answer_some(**own);
  return nullptr;
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
      if (word.compare(0, kSlots.size(), kSlots) != 0) continue;  // other launchers support more keywords
      host.n_pes = positive_number(word.substr(kSlots.size()));
      if (host.n_pes < 0) return bad_host(line, "not a number of PEs");
    }
    hosts.push_back(std::move(host));
  }
  if (hosts.empty()) return Error{Errc::invalid_argument, 0, "the host file " + path + " names no host"};
  return hosts;
}

// Does not use getaddrinfo_a: its threads stay for a while, and a program that ends meanwhile may crash in them.
std::vector<HostFound> look_up(const std::vector<Host>& hosts, int limit_ms) {
  constexpr std::size_t kMaxThreads = 32;
  const auto shared = std::make_shared<LookUp>();
  for (const Host& host : hosts) shared->hosts.push_back({host.name, is_own_name(host.name), {}});
  shared->open = hosts.size();
  shared->has_answer.resize(hosts.size());
  std::vector<pthread_t> threads;
  const auto is_remote = [](const HostFound& host) { return !host.is_this_machine; };
  const auto wanted = static_cast<std::size_t>(std::count_if(shared->hosts.begin(), shared->hosts.end(), is_remote));
  while (threads.size() < std::min(wanted, kMaxThreads)) {
    auto share = std::make_unique<std::shared_ptr<LookUp>>(shared);
    pthread_t thread;
    if (::pthread_create(&thread, nullptr, look_up_thread, share.get()) != 0) break;
    share.release();
    threads.push_back(thread);
  }
  if (threads.empty()) answer_some(*shared);
  std::unique_lock lock(shared->mutex);
  const bool complete =
      shared->answered.wait_for(lock, std::chrono::milliseconds(limit_ms), [&] { return shared->open == 0; });
  std::vector<HostFound> found = shared->hosts;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!shared->has_answer[i]) found[i].problem = "no answer within " + std::to_string(limit_ms / 1000) + " s";
  }
  lock.unlock();
  for (const pthread_t thread : threads) complete ? ::pthread_join(thread, nullptr) : ::pthread_detach(thread);
  return found;
}

}  // namespace shmemx::launcher
