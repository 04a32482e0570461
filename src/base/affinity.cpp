#include "base/affinity.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/unique_fd.hpp"

namespace shmemx {
namespace {

std::string read_file(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[4096];
  ssize_t n = 0;
  while (fd.valid() && (n = ::read(fd.get(), buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

// Returns the path of a process's control group in the hierarchy of `controller`; "" names the unified hierarchy of
// version 2.
std::string group_path(const std::string& controller, const std::string& process = "/proc/self") {
  const std::string text = read_file(process + "/cgroup");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    if (names == "," + controller + "," || names.find("," + controller + ",") != std::string::npos) {
      return line.substr(second + 1);
    }
  }
  return {};
}

// Calls visit(directory) for the group and each of its ancestors. In a container the path may name a group of the
// host that is not mounted here. The root of the mount is then the container's group.
template <class Visit>
void for_each_group(const std::string& mount, std::string path, const Visit& visit) {
  for (;;) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    visit(mount + path);
    if (path.empty()) return;
    path.erase(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

template <class Value>
void keep_smaller(Value& limit, Value found) {
  if (found > 0 && (limit == 0 || found < limit)) limit = found;
}

constexpr const char* kUnifiedMounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

}  // namespace

std::string read_small_file(const std::string& path) {
  std::string text = read_file(path);
  if (const std::size_t end = text.find('\n'); end != std::string::npos) text.resize(end);
  return text;
}

std::vector<int> affinity_cpus() {
  // The kernel rejects a mask that is smaller than its own. No kernel is built for more than 16384 CPUs.
  constexpr int kMostCpus = 16384;
  std::vector<int> cpus;
  cpu_set_t* mask = CPU_ALLOC(kMostCpus);
  if (mask == nullptr) return {0};
  const std::size_t bytes = CPU_ALLOC_SIZE(kMostCpus);
  CPU_ZERO_S(bytes, mask);
  if (::sched_getaffinity(0, bytes, mask) == 0) {
    for (int cpu = 0; cpu < kMostCpus; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, mask)) cpus.push_back(cpu);
    }
  }
  CPU_FREE(mask);
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

double cgroup_cpu_quota() {
  double limit = 0;
  const std::string path = group_path("");
  for (const char* mount : kUnifiedMounts) {
    for_each_group(mount, path, [&](const std::string& group) {
      double quota = 0;
      double period = 0;
      if (std::sscanf(read_small_file(group + "/cpu.max").c_str(), "%lf %lf", &quota, &period) == 2 && period > 0) {
        keep_smaller(limit, quota / period);
      }
    });
  }
  for_each_group("/sys/fs/cgroup/cpu", group_path("cpu"), [&](const std::string& group) {
    const double quota = std::atof(read_small_file(group + "/cpu.cfs_quota_us").c_str());
    const double period = std::atof(read_small_file(group + "/cpu.cfs_period_us").c_str());
    if (period > 0) keep_smaller(limit, quota / period);
  });
  return limit;
}

std::vector<std::string> memory_groups(const std::string& process, const std::string& root) {
  std::vector<std::string> groups;
  const auto add = [&](const std::string& group) { groups.push_back(group); };
  for (const char* mount : {"", "/unified"}) for_each_group(root + mount, group_path("", process), add);
  for_each_group(root + "/memory", group_path("memory", process), add);
  return groups;
}

std::uint64_t memory_limit_of(const std::string& group) {
  constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;  // version 1 writes a huge number for "no limit"
  for (const char* file : {"/memory.max", "/memory.limit_in_bytes"}) {
    const std::uint64_t bytes = std::strtoull(read_small_file(group + file).c_str(), nullptr, 10);  // "max" gives 0
    if (bytes > 0 && bytes < kNoLimit) return bytes;
  }
  return 0;
}

std::uint64_t memory_kills_of(const std::string& group) {
  for (const char* file : {"/memory.events", "/memory.oom_control"}) {
    const std::string text = "\n" + read_file(group + file);
    constexpr std::string_view kName = "\noom_kill ";
    if (const std::size_t at = text.find(kName); at != std::string::npos)
      return std::strtoull(text.c_str() + at + kName.size(), nullptr, 10);
  }
  return 0;
}

std::uint64_t cgroup_memory_limit() {
  std::uint64_t limit = 0;
  for (const std::string& group : memory_groups()) keep_smaller(limit, memory_limit_of(group));
  return limit;
}

std::uint64_t cgroup_memory_available() {
  std::uint64_t available = ~std::uint64_t{0};
  for (const std::string& group : memory_groups()) {
    const std::uint64_t limit = memory_limit_of(group);
    if (limit == 0) continue;
    std::uint64_t used = 0;
    for (const char* file : {"/memory.current", "/memory.usage_in_bytes"})
      used = std::max<std::uint64_t>(used, std::strtoull(read_small_file(group + file).c_str(), nullptr, 10));
    available = std::min(available, used < limit ? limit - used : 0);
  }
  return available;
}

int usable_cpus() {
  int cpus = static_cast<int>(affinity_cpus().size());
  if (const double quota = cgroup_cpu_quota(); quota > 0) cpus = std::min(cpus, static_cast<int>(std::ceil(quota)));
  return std::max(cpus, 1);
}

std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  const char* at = text.c_str();
  while (*at >= '0' && *at <= '9') {
    char* end = nullptr;
    const long first = std::strtol(at, &end, 10);
    long last = first;
    if (*end == '-') last = std::strtol(end + 1, &end, 10);
    for (long cpu = first; cpu <= last && cpu < (1 << 20); ++cpu) cpus.push_back(static_cast<int>(cpu));
    at = *end == ',' ? end + 1 : end;
  }
  return cpus;
}

std::string format_cpu_list(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text += "-" + std::to_string(cpus[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace shmemx
