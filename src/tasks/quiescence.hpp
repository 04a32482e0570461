// When no task is left anywhere. All PEs add up how many tasks they have sent and run, wave after wave; a wave begins
// when the one before it has ended on all PEs. A PE counts a task as run only after all that its handler has sent has
// been counted. Counters never decrease, so if two waves in a row have the same totals, nothing was sent or run between
// them; if then as many were run as sent, none is queued, under way or running.
#pragma once

#include <cstdint>

namespace shmemx::tasks {

struct TaskCounts {
  std::uint64_t sent = 0;
  std::uint64_t run = 0;
  bool operator==(const TaskCounts&) const = default;
};

class Quiescence {
 public:
  // Takes the totals of the next wave. Returns whether no task is left.
  bool add_wave(const TaskCounts& total) noexcept {
    const bool is_equal = has_wave_ && total == before_;
    before_ = total;
    has_wave_ = true;
    return is_equal && total.sent == total.run;
  }

 private:
  TaskCounts before_;
  bool has_wave_ = false;
};

}  // namespace shmemx::tasks
