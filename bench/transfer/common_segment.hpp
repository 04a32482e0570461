// A segment that both processes of a pair map: the local one creates it, the other one receives its descriptor.
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

  // Called by both processes. The memory is zero and backed by pages.
  void map(Link& link, std::size_t bytes);
  void unmap();
  std::byte* base() const { return base_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

// Maps the memory behind `fd` and backs it by pages.
std::byte* map_shared(int fd, std::size_t offset, std::size_t bytes);

// Creates a memory file that vanishes with its last user.
int make_memory_file(std::size_t bytes);

}  // namespace shmemx::bench
