// The memory that is moved: one file for all sources and one for all destinations. Each is more than eight times as
// large as the last-level cache, so that a byte is reused only after it has left the caches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mechanism.hpp"

namespace shmemx::bench {

constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kGuardBytes = 64;  // around a destination, to detect writes outside of it

struct CacheSizes {
  std::size_t private_bytes = 0;  // level 2: a core's own
  std::size_t last_bytes = 0;
};
CacheSizes cache_sizes();

// Returns word i of the arena, which depends on its position.
std::uint64_t word_at(std::uint64_t index);
bool matches(const std::byte* data, std::size_t source_offset, std::size_t bytes);

class Arena {
 public:
  explicit Arena(std::size_t bytes);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  std::size_t bytes() const { return bytes_; }
  int source_fd() const { return source_fd_; }
  int dest_fd() const { return dest_fd_; }

 private:
  std::size_t bytes_;
  int source_fd_;
  int dest_fd_;
};

// This process's mapping of one of the two files.
class Mapping {
 public:
  Mapping(int fd, std::size_t bytes);
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();
  Region region() const { return region_; }

 private:
  Region region_;
};

// Walks through both files, by the lines of one transfer at a time. Each lap begins elsewhere in the source, so that
// old data in the destination never match the expected ones.
struct Walk {
  std::uint64_t source = 0;
  std::uint64_t dest = 0;
  std::uint64_t laps = 0;

  Transfer next(std::size_t bytes, std::size_t arena_bytes);
};

}  // namespace shmemx::bench
