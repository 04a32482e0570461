#include "interpose/waiting.hpp"

#include <sched.h>
#include <shmemx.h>
#include <time.h>

#include "interpose/job.hpp"

namespace shmemx::interpose {

void wait_a_little(unsigned steps) {
  constexpr unsigned kSpins = 200;
  constexpr unsigned kYields = 2000;
  constexpr unsigned kShortSleeps = 100;
  constexpr unsigned kStepsPerProbe = 16;  // probing the MPI may take longer than all else
  if (steps < kSpins) {
    if (awaits_messages.load(std::memory_order_relaxed)) {
      shmemx_am_poll();
    } else {
      __builtin_ia32_pause();
    }
    return;
  }
  const bool yields = steps < kSpins + kYields;
  if (!yields || steps % kStepsPerProbe == 0) poll_mpi();
  shmemx_am_poll();
  if (yields) {
    ::sched_yield();
    return;
  }
  const timespec pause{0, steps - kSpins - kYields < kShortSleeps ? 20'000 : 100'000};
  ::nanosleep(&pause, nullptr);
}

}  // namespace shmemx::interpose
