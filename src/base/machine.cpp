#include "base/machine.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/unique_fd.hpp"

namespace shmemx {
namespace {

constexpr std::size_t kFileBytes = 4096;
constexpr int kMaxDepth = 16;  // cgroups looked at on the way up

// The beginning of a small file as a string; empty when it cannot be read.
struct SmallFile {
  char text[kFileBytes];
  explicit SmallFile(const char* path) {
    const UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
    const ssize_t got = fd.valid() ? ::read(fd.get(), text, sizeof text - 1) : 0;
    text[got > 0 ? got : 0] = '\0';
  }
};

std::uint64_t number_or_unlimited(const char* text) {
  if (*text < '0' || *text > '9') return kUnlimited;  // "max", or no such file
  return std::strtoull(text, nullptr, 10);
}

// The path of this process in the unified hierarchy, such as "/user.slice/x"; empty without one.
void unified_cgroup(char* path, std::size_t bytes) {
  const SmallFile file("/proc/self/cgroup");
  path[0] = '\0';
  const char* line = std::strstr(file.text, "0::");
  if (line == nullptr) return;
  line += 3;
  const std::size_t length = std::strcspn(line, "\n");
  std::snprintf(path, bytes, "%.*s", static_cast<int>(std::min(length, bytes - 1)), line);
  if (std::strcmp(path, "/") == 0) path[0] = '\0';
}

// Calls visit(file contents) for `file` of this cgroup and all above it.
template <class Visit>
void for_each_cgroup(const char* file, Visit visit) {
  char path[512];
  unified_cgroup(path, sizeof path);
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    char name[640];
    std::snprintf(name, sizeof name, "/sys/fs/cgroup%s/%s", path, file);
    visit(SmallFile(name).text, path);
    char* const slash = std::strrchr(path, '/');
    if (slash == nullptr) return;
    *slash = '\0';
  }
}

std::uint64_t cgroup_file(const char* path, const char* file) {
  char name[640];
  std::snprintf(name, sizeof name, "/sys/fs/cgroup%s/%s", path, file);
  return number_or_unlimited(SmallFile(name).text);
}

std::uint64_t quota_of(const char* text) {
  const std::uint64_t quota = number_or_unlimited(text);
  const char* const space = std::strchr(text, ' ');
  const std::uint64_t period = space == nullptr ? kUnlimited : number_or_unlimited(space + 1);
  if (quota == kUnlimited || period == kUnlimited || period == 0) return kUnlimited;
  return quota * 1000 / period;
}

}  // namespace

std::uint64_t total_memory_bytes() noexcept {
  struct sysinfo info;
  if (::sysinfo(&info) != 0) return 0;
  return static_cast<std::uint64_t>(info.totalram) * info.mem_unit;
}

std::uint64_t memory_limit_bytes() noexcept {
  std::uint64_t limit = kUnlimited;
  for_each_cgroup("memory.max", [&](const char* text, const char*) { limit = std::min(limit, number_or_unlimited(text)); });
  // Version 1 of cgroups: no limit there is a number near 2^63.
  const std::uint64_t version1 = number_or_unlimited(SmallFile("/sys/fs/cgroup/memory/memory.limit_in_bytes").text);
  return std::min(limit, version1 > (kUnlimited >> 2) ? kUnlimited : version1);
}

std::uint64_t available_memory_bytes() noexcept {
  const SmallFile meminfo("/proc/meminfo");
  const char* const line = std::strstr(meminfo.text, "MemAvailable:");
  std::uint64_t available = line == nullptr ? total_memory_bytes() : std::strtoull(line + 13, nullptr, 10) * 1024;
  for_each_cgroup("memory.max", [&](const char* text, const char* path) {
    const std::uint64_t limit = number_or_unlimited(text);
    if (limit == kUnlimited) return;
    const std::uint64_t used = cgroup_file(path, "memory.current");
    available = std::min(available, used < limit ? limit - used : 0);
  });
  return available;
}

std::uint64_t cpu_quota_milli() noexcept {
  std::uint64_t quota = kUnlimited;
  for_each_cgroup("cpu.max", [&](const char* text, const char*) { quota = std::min(quota, quota_of(text)); });
  const std::uint64_t version1 = number_or_unlimited(SmallFile("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").text);
  const std::uint64_t period = number_or_unlimited(SmallFile("/sys/fs/cgroup/cpu/cpu.cfs_period_us").text);
  if (version1 != kUnlimited && period != kUnlimited && period != 0) quota = std::min(quota, version1 * 1000 / period);
  return quota;
}

bool read_affinity(std::span<std::uint64_t> words) noexcept {
  std::memset(words.data(), 0, words.size_bytes());
  return ::sched_getaffinity(0, words.size_bytes(), reinterpret_cast<cpu_set_t*>(words.data())) == 0;
}

std::uint64_t address_space_limit() noexcept {
  rlimit limit;
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  return limit.rlim_cur;
}

}  // namespace shmemx
