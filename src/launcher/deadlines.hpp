// When oshrun has to act although no event happens. Times are those of now_ms(); -1: never.
#pragma once

#include <algorithm>

namespace shmemx::launcher {

inline constexpr int kTimeoutStatus = 124;  // as timeout(1) does

struct Deadlines {
  long kill_ms = -1;   // to kill what is left of the job
  long limit_ms = -1;  // to end the job that has run too long
  long check_ms = -1;  // to look at the PEs' records

  static bool is_due(long at_ms, long now_ms) { return at_ms >= 0 && now_ms >= at_ms; }

  // Returns how long to wait for events, as poll takes it. `other_ms`: one more deadline.
  int wait_ms(long now_ms, long other_ms) const {
    long next = -1;
    for (const long at : {kill_ms, limit_ms, check_ms, other_ms}) {
      if (at >= 0 && (next < 0 || at < next)) next = at;
    }
    return next < 0 ? -1 : static_cast<int>(std::clamp(next - now_ms, 0L, 60'000L));
  }
};

}  // namespace shmemx::launcher
