#include "atomic/element_locks.hpp"

#include <sched.h>

#include "base/cpu_pause.hpp"

namespace shmemx::atomic {
namespace {

constinit ElementLocks private_locks;

}  // namespace

constinit ElementLocks* own_element_locks = &private_locks;

// The holder is busy for some hundred nanoseconds, unless its core has been taken away.
void ElementLock::wait() noexcept {
  constexpr unsigned kSpins = 500;
  for (unsigned spins = 0;; ++spins) {
    if (held_.load(std::memory_order_relaxed) == 0 &&  // the exchange orders
        held_.exchange(1, std::memory_order_acquire) == 0)
      return;
    if (spins % kSpins == kSpins - 1) {
      ::sched_yield();
    } else {
      cpu_pause();
    }
  }
}

}  // namespace shmemx::atomic
