// The memory that tests access.
#pragma once

#include <shmemx.h>

#include <cstddef>

#include "perf/settings.hpp"

namespace shmemx::perf {

// Two blocks on each PE: what operations of others access, and what this PE's own ones read or fill. Construction and
// destruction are collective.
class Buffers {
 public:
  static constexpr std::size_t kStaticBytes = std::size_t{4} << 20;  // the longest static block

  Buffers(Memory memory, std::size_t bytes);
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers();

  bool exist() const { return own_ != nullptr; }
  // Lets `work` access the block of `peer`.
  void aim(Work& work, int peer);

 private:
  struct Published {
    shmemx_window_description_t description;
    std::byte* base;
  };
  void allocate_window();
  void detach();

  Memory memory_;
  std::size_t bytes_;
  std::byte* own_ = nullptr;
  Published* published_ = nullptr;  // symmetric
  shmemx_window_t window_ = SHMEMX_WINDOW_INVALID;
  shmemx_window_t attached_ = SHMEMX_WINDOW_INVALID;
};

}  // namespace shmemx::perf
