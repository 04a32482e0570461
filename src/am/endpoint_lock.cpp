#include "am/endpoint_lock.hpp"

#include <sched.h>

#include "base/cpu_pause.hpp"

namespace shmemx::am {

void EndpointLock::lock_slow() noexcept {
  constexpr int kSpins = 200;
  contention_.fetch_add(1, std::memory_order_relaxed);  // a hint
  for (int spin = 1;; ++spin) {
    if (!held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire)) return;  // endpoint
    if (spin % kSpins == 0) {
      ::sched_yield();
    } else {
      cpu_pause();
    }
  }
}

}  // namespace shmemx::am
