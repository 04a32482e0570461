// A segment that both processes of a pair map: the local one makes it, the other one gets its descriptor.
#pragma once

#include <cstddef>

#include "link.hpp"

namespace shmemx::bench {

class CommonSegment {
 public:
  CommonSegment() = default;
  CommonSegment(const CommonSegment&) = delete;
  CommonSegment& operator=(const CommonSegment&) = delete;
  ~CommonSegment() { unmap(); }

  // Both processes call it. Zero bytes, already backed by pages.
  void map(Link& link, std::size_t bytes);
  void unmap();
  std::byte* base() const { return base_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

// Memory behind `fd`, mapped and backed by pages.
std::byte* map_shared(int fd, std::size_t offset, std::size_t bytes);

// A file in memory that goes away with its last user.
int make_memory_file(std::size_t bytes);

}  // namespace shmemx::bench
