#include "arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include "common_segment.hpp"

namespace shmemx::bench {
namespace {

// Parses sizes such as "2048K" in /sys.
std::size_t cache_bytes_in_sys(int index, const char* file) {
  std::ifstream in("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/" + file);
  std::size_t value = 0;
  char unit = 0;
  in >> value >> unit;
  return unit == 'K' ? value << 10 : unit == 'M' ? value << 20 : value;
}

}  // namespace

CacheSizes cache_sizes() {
  CacheSizes sizes;
  const auto positive = [](long value) { return value > 0 ? static_cast<std::size_t>(value) : std::size_t{0}; };
  sizes.private_bytes = positive(sysconf(_SC_LEVEL2_CACHE_SIZE));
  sizes.last_bytes = positive(sysconf(_SC_LEVEL3_CACHE_SIZE));
  for (int index = 0; index < 8; ++index) {
    const std::size_t bytes = cache_bytes_in_sys(index, "size");
    if (cache_bytes_in_sys(index, "level") == 2 && sizes.private_bytes == 0) sizes.private_bytes = bytes;
    sizes.last_bytes = std::max(sizes.last_bytes, bytes);
  }
  if (sizes.private_bytes == 0) sizes.private_bytes = std::size_t{1} << 20;
  sizes.last_bytes = std::max(sizes.last_bytes, sizes.private_bytes);
  return sizes;
}

// The finalizer of splitmix64, so that neighbouring words are unrelated.
std::uint64_t word_at(std::uint64_t index) {
  std::uint64_t value = (index + 1) * 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

bool matches(const std::byte* data, std::size_t source_offset, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const std::size_t at = source_offset + done;
    const std::uint64_t word = word_at(at / 8);
    const std::size_t count = std::min(8 - at % 8, bytes - done);
    std::byte expected[8];
    std::memcpy(expected, &word, 8);
    if (std::memcmp(data + done, expected + at % 8, count) != 0) return false;
    done += count;
  }
  return true;
}

Arena::Arena(std::size_t bytes)
    : bytes_(bytes), source_fd_(make_memory_file(bytes)), dest_fd_(make_memory_file(bytes)) {
  const Mapping source(source_fd_, bytes_);
  auto* words = reinterpret_cast<std::uint64_t*>(source.region().base);
  for (std::size_t i = 0; i < bytes_ / 8; ++i) words[i] = word_at(i);
  const Mapping dest(dest_fd_, bytes_);  // backs it by pages
}

Arena::~Arena() {
  close(source_fd_);
  close(dest_fd_);
}

Mapping::Mapping(int fd, std::size_t bytes) : region_{map_shared(fd, 0, bytes), bytes, fd, 0} {}
Mapping::~Mapping() { munmap(region_.base, region_.bytes); }

Transfer Walk::next(std::size_t bytes, std::size_t arena_bytes) {
  const std::size_t step = (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  if (source + step > arena_bytes) source = (++laps * 3 + 1) % 61 * kLineBytes;
  if (dest + step + 2 * kGuardBytes > arena_bytes || dest < kGuardBytes) dest = kGuardBytes;
  const Transfer transfer{source, dest, bytes};
  source += step;
  dest += step;
  return transfer;
}

}  // namespace shmemx::bench
