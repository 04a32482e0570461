#include "transport/ucx/library.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

namespace shmemx::ucx {
namespace {

struct Preference {
  const char* name;
  const char* value;
};

// In force unless the user has set the variable of that name.
//  - No shared memory of UCX: PEs of one node have their own.
//  - Larger segments: the small ones cost a third of the bandwidth from 16 KiB on. Those of the receiver have room
//    for the longest eager payload of limits.hpp and its header.
//  - Connections without blocking, since no call of a transport may wait.
//  - One connection to a PE: with two, UCX takes the end of the idle one for the end of both, while data are unread.
constexpr Preference kPreferences[] = {
    {"TLS", "^sm,self"},  {"TCP_TX_SEG_SIZE", "68k"}, {"TCP_RX_SEG_SIZE", "264k"},
    {"TCP_CONN_NB", "y"}, {"MAX_RNDV_RAILS", "1"},    {"MEMTYPE_CACHE", "n"},
};

// What a release does not know it ignores.
void set(ucp_config_t* config, const Preference& preference) {
  for (const std::string_view name : names_of(preference.name))
    ::ucp_config_modify(config, name.data(), preference.value);
}

bool set_by_user(const char* name) { return std::getenv((std::string("UCX_") + name).c_str()) != nullptr; }

Error refused(const char* what, ucs_status_t status) {
  return Error{Errc::unsupported, 0, std::string(what) + " says \"" + status_text(status) + '"'};
}

// Blocks all signals while it lives, but that by which this library stops threads. UCX starts a thread for its
// connections, and the program's signals must go to the program's threads.
class SignalsBlocked {
 public:
  explicit SignalsBlocked(int stop_signal) {
    sigset_t all;
    ::sigfillset(&all);
    if (stop_signal != 0) ::sigdelset(&all, stop_signal);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

Result<ucp_config_t*> make_config(const Choice& choice) {
  ucp_config_t* config = nullptr;
  if (const ucs_status_t status = ::ucp_config_read(nullptr, nullptr, &config); status != UCS_OK) {
    return refused("ucp_config_read", status);
  }
  for (const Preference& preference : kPreferences) {
    if (!set_by_user(preference.name)) set(config, preference);
  }
  if (!choice.transports.empty()) ::ucp_config_modify(config, "TLS", choice.transports.c_str());
  if (!choice.devices.empty()) ::ucp_config_modify(config, "NET_DEVICES", choice.devices.c_str());
  return config;
}

// Finds the resources in what UCX prints of a context: their lines end in "transport/device".
std::vector<Resource> parse_resources(std::string_view text) {
  std::vector<Resource> resources;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find(" resource ") == std::string_view::npos) continue;
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.remove_suffix(1);
    const std::size_t begin = line.rfind(' ') + 1;
    const std::size_t slash = line.find('/', begin);
    if (slash == std::string_view::npos) continue;
    resources.push_back({std::string(line.substr(begin, slash - begin)), std::string(line.substr(slash + 1))});
  }
  return resources;
}

// Returns the devices in the order in which they are kept if the address gets too long: those faster than tcp first,
// then in the order of UCX.
std::vector<std::string> devices_of(const std::vector<Resource>& resources) {
  std::vector<std::string> devices;
  for (const bool tcp : {false, true}) {
    for (const Resource& resource : resources) {
      if ((resource.transport == "tcp") != tcp) continue;
      if (std::find(devices.begin(), devices.end(), resource.device) == devices.end())
        devices.push_back(resource.device);
    }
  }
  return devices;
}

// Returns whether an address is meant for a site's own networks (RFC 1918, RFC 4193).
bool is_private(const sockaddr& address) noexcept {
  if (address.sa_family == AF_INET) {
    const std::uint32_t host = ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr);
    return host >> 24 == 10 || host >> 20 == 0xac1 || host >> 16 == 0xc0a8;
  }
  if (address.sa_family != AF_INET6) return false;
  return (reinterpret_cast<const sockaddr_in6&>(address).sin6_addr.s6_addr[0] & 0xfe) == 0xfc;
}

std::string contents_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the interfaces with private addresses. Bridges lead to guests of this machine only.
std::vector<std::string> internal_devices() {
  std::vector<std::string> found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_RUNNING) == 0 || !is_private(*entry->ifa_addr)) continue;
    const std::string name = entry->ifa_name;
    if (::access(("/sys/class/net/" + name + "/bridge").c_str(), F_OK) == 0) continue;
    if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
  }
  ::freeifaddrs(list);
  return found;
}

Interfaces interfaces() {
  return {internal_devices(),
          default_route_devices(contents_of("/proc/net/route"), contents_of("/proc/net/ipv6_route"))};
}

// Was UCX built so that threads may use workers of one context at the same time?
bool may_share_context() noexcept {
  ucp_lib_attr_t attributes{};
  attributes.field_mask = UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL;
  return ::ucp_lib_query(&attributes) == UCS_OK && attributes.max_thread_level == UCS_THREAD_MODE_MULTI;
}

ucs_status_t make_worker(ucp_context_h context, ucp_worker_h& worker) noexcept {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;  // one thread at a time, which is not always the same
  return ::ucp_worker_create(context, &params, &worker);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

}  // namespace

std::string status_text(ucs_status_t status) {
  std::string text = ::ucs_status_string(status);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Lines have the form "lane[0]:  1:tcp/eth0.0 md[0] ...".
std::string lanes_of(std::string_view text) {
  std::vector<std::string> lanes;
  for (std::size_t at = text.find("lane["); at != std::string_view::npos; at = text.find("lane[", at + 1)) {
    const std::size_t slash = text.find('/', at);
    if (slash == std::string_view::npos) break;
    const std::size_t begin = text.rfind(':', slash) + 1;
    std::string_view name = text.substr(begin, text.find(' ', slash) - begin);
    name = name.substr(0, name.rfind('.'));
    if (std::find(lanes.begin(), lanes.end(), name) == lanes.end()) lanes.emplace_back(name);
  }
  return joined(lanes);
}

Library::Library(Library&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)),
      worker_(std::exchange(other.worker_, nullptr)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      address_(std::move(other.address_)),
      resources_(std::move(other.resources_)),
      is_native_(other.is_native_),
      stop_signal_(other.stop_signal_) {}

Library::~Library() {
  stop();
  if (context_ != nullptr) ::ucp_cleanup(context_);
}

void Library::stop() noexcept {
  if (worker_ != nullptr) ::ucp_worker_destroy(std::exchange(worker_, nullptr));
}

// Opens a context without a worker first, which listens nowhere. The devices that it sees decide how the worker is
// opened.
Result<Library> Library::open(const Needs& needs) {
  const SignalsBlocked blocked(needs.stop_signal);
  Choice choice;
  {
    Library all;
    SHMEMX_TRY(all.start_context(needs.n_peers, {}));
    if (all.resources_.empty()) return Error{Errc::unsupported, 0, "UCX sees no network device"};
    choice = narrowed(all.resources_, needs.one_machine, interfaces());
    if (set_by_user("TLS")) choice.transports.clear();
    if (set_by_user("NET_DEVICES")) choice.devices.clear();
    const bool is_named = set_by_user("TLS") || set_by_user("NET_DEVICES");
    if (!choice.refusal.empty() && !is_named) return Error{Errc::unsupported, 0, choice.refusal};
  }
  for (;;) {
    Library library;
    library.stop_signal_ = needs.stop_signal;
    SHMEMX_TRY(library.start_context(needs.n_peers, choice));
    SHMEMX_TRY(library.start_worker());
    if (library.address_.size() <= needs.address_bytes) return library;
    std::vector<std::string> devices = devices_of(library.resources_);
    if (devices.size() < 2 || set_by_user("NET_DEVICES")) {
      return Error{Errc::unsupported, 0,
                   "the address of UCX's worker has " + std::to_string(library.address_.size()) +
                       " bytes, allowed are " + std::to_string(needs.address_bytes) +
                       "; name fewer devices in UCX_NET_DEVICES"};
    }
    devices.resize((devices.size() + 1) / 2);
    choice.devices = joined(devices);
  }
}

Status Library::start_context(std::size_t n_peers, const Choice& choice) {
  SHMEMX_TRY_ASSIGN(config, make_config(choice));
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_WAKEUP;
  params.estimated_num_eps = n_peers;
  params.mt_workers_shared = may_share_context() ? 1 : 0;
  const ucs_status_t status = ::ucp_init(&params, config, &context_);
  ::ucp_config_release(config);
  if (status != UCS_OK) return refused("ucp_init", status);
  resources_ = parse_resources(printed([this](std::FILE* file) { ::ucp_context_print_info(context_, file); }));
  is_native_ = has_native_rma(resources_);
  return {};
}

ucp_worker_h Library::make_lane_worker() const noexcept {
  if (!may_share_context()) return nullptr;
  const SignalsBlocked blocked(stop_signal_);
  ucp_worker_h worker = nullptr;
  return make_worker(context_, worker) == UCS_OK ? worker : nullptr;
}

Status Library::start_worker() {
  ucs_status_t status = make_worker(context_, worker_);
  if (status != UCS_OK) return refused("ucp_worker_create", status);
  status = ::ucp_worker_get_efd(worker_, &descriptor_);
  if (status != UCS_OK) return refused("ucp_worker_get_efd", status);
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  status = ::ucp_worker_get_address(worker_, &address, &bytes);
  if (status != UCS_OK) return refused("ucp_worker_get_address", status);
  address_.assign(reinterpret_cast<const char*>(address), bytes);
  ::ucp_worker_release_address(worker_, address);
  return {};
}

}  // namespace shmemx::ucx
