// The kernel lets a thread sleep for up to 50 us longer than it asked for. This makes the sleeps of the calling thread
// exact until the object is destroyed by the same thread.
#pragma once

#include <sys/prctl.h>

namespace shmemx {

class TimerSlack {
 public:
  TimerSlack() noexcept = default;
  TimerSlack(const TimerSlack&) = delete;
  TimerSlack& operator=(const TimerSlack&) = delete;
  ~TimerSlack() {
    if (before_ns_ > 0) ::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(before_ns_), 0, 0, 0);
  }

  // Leaves a thread as it is whose sleeps are exact, as those of real-time threads are, or are not to be changed.
  void tighten() noexcept {
    constexpr unsigned long kSlackNs = 1000;
    const int before_ns = ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    if (before_ns <= static_cast<int>(kSlackNs) || ::prctl(PR_SET_TIMERSLACK, kSlackNs, 0, 0, 0) != 0) return;
    before_ns_ = before_ns;
  }

 private:
  int before_ns_ = 0;  // 0: it has not been changed
};

}  // namespace shmemx
