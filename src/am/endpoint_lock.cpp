#include "am/endpoint_lock.hpp"

#include <sched.h>

#include "base/cpu_pause.hpp"

namespace shmemx::am {

// With more threads than cores a thread that takes the lock again and again would have it at each moment at which one
// that has yielded its core gets that back.
void EndpointLock::let_impatient_go_first() const noexcept {
  constexpr int kYields = 16;  // then it may lack a core for other reasons
  for (int i = 0; i < kYields && impatient_.load(std::memory_order_relaxed) != 0; ++i) ::sched_yield();
}

void EndpointLock::lock_slow() noexcept {
  constexpr int kSpins = 200;
  constexpr int kPatience = 4 * kSpins;  // with fewer, threads that share the lock lose as much as the others gain
  contention_.fetch_add(1, std::memory_order_relaxed);  // a hint
  let_impatient_go_first();
  bool is_impatient = false;
  for (int spin = 1;; ++spin) {
    if (!held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire)) break;  // endpoint
    if (spin % kSpins != 0) {
      cpu_pause();
      continue;
    }
    ::sched_yield();
    if (spin != kPatience) continue;
    impatient_.fetch_add(1, std::memory_order_relaxed);  // a hint
    is_impatient = true;
  }
  if (is_impatient) impatient_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace shmemx::am
