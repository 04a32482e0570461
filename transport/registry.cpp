#include "transport/registry.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/lazy_mapping.hpp"
#include "base/machine.hpp"
#include "base/random_bytes.hpp"
#include "transport/common/network_fd.hpp"
#include "transport/ethernet/open.hpp"
#include "transport/plugin.hpp"
#include "transport/tcp/open.hpp"

namespace shmemx::transport {

namespace {

bool is_known(const std::string& name) {
  const std::vector<std::string> known = known_transports();
  return std::find(known.begin(), known.end(), name) != known.end();
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

Result<TransportPtr> open_one(const std::string& name, const Setup& setup) {
  if (name == "tcp") return tcp::open_tcp(setup);
  if (name == "ethernet") return ethernet::open_ethernet(setup);
  return open_plugin(name, setup);
}

}  // namespace

std::vector<std::string> known_transports() {
  std::vector<std::string> names = known_plugins();
  names.emplace_back("tcp");
  names.emplace_back("ethernet");
  return names;
}

Result<std::vector<Candidate>> open_transports(const std::vector<std::string>& names, const Setup& setup) {
  std::vector<Candidate> candidates;
  std::uint64_t random = 0;
  if (!fill_random(std::as_writable_bytes(std::span(&random, 1))))
    return Error{Errc::unsupported, 0,
                 "networks need unpredictable numbers, and both getrandom and /dev/urandom are refused (a container's "
                 "seccomp profile may forbid the first): allow one of them"};
  constexpr std::size_t kMapped = std::size_t{512} << 10;
  if (!may_map_locked(kMapped))
    return Error{
        Errc::no_memory, 0,
        "networks need more memory than the program may lock, which has locked all future mappings (mlockall): "
        "the limit on locked memory (ulimit -l) is " +
            std::to_string(locked_memory_limit()) + " bytes"};
  for (const std::string& name : names) {
    if (!is_known(name)) {
      return Error{Errc::invalid_argument, 0,
                   "SHMEMX_TRANSPORT names '" + name + "', allowed are " + joined(known_transports())};
    }
    const bool again = std::any_of(candidates.begin(), candidates.end(),
                                   [&name](const Candidate& candidate) { return candidate.name == name; });
    if (again || candidates.size() == kMaxTransports) continue;
    Result<TransportPtr> opened = open_one(name, setup);
    if (opened) {
      candidates.push_back({name, std::move(*opened), ""});
    } else {
      std::string why_not = opened.error().text;
      if (opened.error().system_errno != 0) why_not += " (errno " + std::to_string(opened.error().system_errno) + ")";
      candidates.push_back({name, nullptr, why_not});
    }
  }
  return candidates;
}

void close_descriptors_in_child() noexcept { close_network_fds_in_child(); }

}  // namespace shmemx::transport
