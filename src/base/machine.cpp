#include "base/machine.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/affinity.hpp"
#include "base/cache_line.hpp"
#include "base/small_file.hpp"

namespace shmemx {
namespace {

// Returns the value of "MemAvailable:  1234 kB" in /proc/meminfo in bytes; 0 if the line is missing.
std::uint64_t kernel_available_bytes() {
  char text[4096];
  read_small_file("/proc/meminfo", text);
  const char* const line = std::strstr(text, "MemAvailable:");
  return line == nullptr ? 0 : std::strtoull(line + std::strlen("MemAvailable:"), nullptr, 10) * 1024;
}

std::uint64_t limit_of(int resource) {
  rlimit limit;
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return kUnlimited;
  return limit.rlim_cur;
}

// Returns the size of a cache of the first CPU by its index in the kernel's list, which ends with the last cache: a
// line like "32768K". 0 if there is none. sysconf is no substitute: it counts the caches of a whole socket as one.
std::uint64_t cache_bytes(char index) noexcept {
  char path[] = "/sys/devices/system/cpu/cpu0/cache/index?/size";
  *std::strchr(path, '?') = index;
  char text[32];
  read_small_file(path, text);
  return std::strtoull(text, nullptr, 10) * 1024;
}

}  // namespace

std::uint64_t last_cache_bytes() noexcept {
  // 0 to 3 are usual: two first ones, for data and instructions.
  for (const char index : {'4', '3', '2'}) {
    if (const std::uint64_t bytes = cache_bytes(index); bytes != 0) return bytes;
  }
  return 0;
}

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

std::uint64_t total_memory_bytes() noexcept {
  struct sysinfo info;
  if (::sysinfo(&info) != 0) return 0;
  return static_cast<std::uint64_t>(info.totalram) * info.mem_unit;
}

std::uint64_t free_memory_bytes() noexcept {
  const std::uint64_t kernel = kernel_available_bytes();
  return kernel == 0 ? total_memory_bytes() : kernel;
}

std::uint64_t available_memory_bytes() noexcept { return std::min(free_memory_bytes(), cgroup_memory_available()); }

std::uint64_t cpu_quota_milli() noexcept {
  const double quota = cgroup_cpu_quota();
  return quota > 0 ? static_cast<std::uint64_t>(quota * 1000) : kUnlimited;
}

bool read_affinity(std::span<std::uint64_t> words) noexcept {
  std::fill(words.begin(), words.end(), 0);
  return ::sched_getaffinity(0, words.size_bytes(), reinterpret_cast<cpu_set_t*>(words.data())) == 0;
}

// Valgrind adds its own libraries to LD_PRELOAD, also for statically linked programs. It removes them for programs
// started from there that it does not follow.
bool runs_under_valgrind() noexcept {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  return preloaded != nullptr && std::strstr(preloaded, "/vgpreload_") != nullptr;
}

// Emulators give the path of the emulated program for the first name, but do not know the second one.
bool runs_under_emulator() noexcept {
  char emulated[256] = "";
  char real[256] = "";
  const bool is_read = ::readlink("/proc/self/exe", emulated, sizeof emulated) > 0 &&
                       ::readlink("/proc/thread-self/exe", real, sizeof real) > 0;
  return is_read && std::memcmp(emulated, real, sizeof real) != 0;
}

std::uint64_t address_space_limit() noexcept { return limit_of(RLIMIT_AS); }
std::uint64_t locked_memory_limit() noexcept { return limit_of(RLIMIT_MEMLOCK); }

std::string locked_memory_note() {
  const std::uint64_t limit = locked_memory_limit();
  if (limit == kUnlimited) return {};
  return "; the limit of locked memory is " + std::to_string(limit) + " bytes (ulimit -l)";
}

bool is_mapped(std::uint64_t address, std::uint64_t bytes) noexcept {
  if (bytes == 0) return true;
  const std::uint64_t begin = round_down(address, page_bytes());
  const std::uint64_t end = address + bytes;
  if (end < begin) return false;
  // Writes nothing: the kernel only looks whether all of the range is mapped.
  return ::msync(reinterpret_cast<void*>(static_cast<std::uintptr_t>(begin)), end - begin, MS_ASYNC) == 0;
}

}  // namespace shmemx
