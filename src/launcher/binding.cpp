#include "binding.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <map>

#include "base/abstract_address.hpp"
#include "base/affinity.hpp"

namespace shmemx::launcher {
namespace {

// Returns the kernel's list of the CPUs that are threads of the same core as `cpu`; empty if the kernel does not
// tell.
std::string core_threads(int cpu, const std::string& root) {
  const std::string topology = root + "/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
  const std::string core = read_small_file(topology + "core_cpus_list");
  return core.empty() ? read_small_file(topology + "thread_siblings_list") : core;
}

// Binds a socket to an abstract name. Returns an invalid descriptor with EADDRINUSE if another process has the name.
UniqueFd take_name(const std::string& name) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return fd;
  const AbstractAddress address("%s", name.c_str());
  if (::bind(fd.get(), address.get(), address.bytes()) == 0) return fd;
  const int error = errno;
  fd.reset();
  errno = error;
  return fd;
}

// Returns a text that is equal for CPUs of one group and different otherwise.
std::string group_name(Bind bind, int cpu, const std::string& root) {
  const std::string topology = root + "/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
  if (bind == Bind::socket) return read_small_file(topology + "physical_package_id");
  return core_threads(cpu, root);
}

std::map<int, std::string> numa_nodes(const std::string& root) {
  std::map<int, std::string> node_of;
  const std::string base = root + "/devices/system/node/";
  for (int node : parse_cpu_list(read_small_file(base + "online"))) {
    const std::string name = "node" + std::to_string(node);
    for (int cpu : parse_cpu_list(read_small_file(base + name + "/cpulist"))) node_of[cpu] = name;
  }
  return node_of;
}

}  // namespace

std::vector<std::vector<int>> cpu_groups(Bind bind, const std::vector<int>& allowed, const std::string& root) {
  const std::map<int, std::string> node_of = bind == Bind::numa ? numa_nodes(root) : std::map<int, std::string>();
  std::vector<std::string> names;
  std::vector<std::vector<int>> groups;
  for (int cpu : allowed) {
    const auto node = node_of.find(cpu);
    const std::string name = bind != Bind::numa      ? group_name(bind, cpu, root)
                             : node != node_of.end() ? node->second
                                                     : "";
    const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    if (at == names.size()) {
      names.push_back(name);
      groups.emplace_back();
    }
    groups[at].push_back(cpu);
  }
  return groups;
}

bool CoreClaims::claim(int cpu, const std::string& root) {
  const std::vector<int> threads = parse_cpu_list(core_threads(cpu, root));
  const int core = threads.empty() ? cpu : threads.front();
  const auto [at, is_new] = cores_.try_emplace(core);
  if (is_new) {
    at->second.socket = take_name(prefix_ + std::to_string(core));
    at->second.ours = at->second.socket.valid() || errno != EADDRINUSE;
  }
  return at->second.ours;
}

int CoreClaims::refused() const {
  return static_cast<int>(
      std::count_if(cores_.begin(), cores_.end(), [](const auto& core) { return !core.second.ours; }));
}

std::vector<std::vector<int>> claim_groups(const std::vector<std::vector<int>>& groups, std::size_t n_groups,
                                           const std::string& root, CoreClaims& claims) {
  std::vector<std::vector<int>> claimed;
  for (const std::vector<int>& group : groups) {
    if (claimed.size() == n_groups) break;
    std::vector<int> ours;
    std::copy_if(group.begin(), group.end(), std::back_inserter(ours),
                 [&](int cpu) { return claims.claim(cpu, root); });
    if (!ours.empty()) claimed.push_back(std::move(ours));
  }
  return claimed;
}

}  // namespace shmemx::launcher
