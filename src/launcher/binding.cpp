#include "binding.hpp"

#include <algorithm>
#include <map>

#include "base/affinity.hpp"

namespace shmemx::launcher {
namespace {

// A text that is the same for CPUs of one group and different otherwise.
std::string group_name(Bind bind, int cpu, const std::string& root) {
  const std::string topology = root + "/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
  if (bind == Bind::socket) return read_small_file(topology + "physical_package_id");
  const std::string core = read_small_file(topology + "core_cpus_list");
  return core.empty() ? read_small_file(topology + "thread_siblings_list") : core;
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

}  // namespace shmemx::launcher
