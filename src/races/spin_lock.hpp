// A lock in memory that processes share, held for some hundred instructions. Zero is free.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "base/cpu_pause.hpp"

namespace shmemx::races {

class SpinLock {
 public:
  void lock() noexcept {
    for (int tries = 1; word_.exchange(1, std::memory_order_acquire) != 0; ++tries) {
      if (tries % 64 == 0) {
        ::sched_yield();
      } else {
        cpu_pause();
      }
    }
  }
  void unlock() noexcept { word_.store(0, std::memory_order_release); }

 private:
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace shmemx::races
