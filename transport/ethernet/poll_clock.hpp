// The time at the last look at a clock: mostly one look in a poll is exact enough.
#pragma once

#include <cstdint>
#include <utility>

namespace shmemx::ethernet {

class PollClock {
 public:
  using Function = std::uint64_t (*)() noexcept;
  explicit PollClock(Function clock) noexcept : clock_(clock), now_ns_(clock()) {}

  std::uint64_t now_ns() const noexcept { return now_ns_; }
  // Reads the clock, unless look() has done so in this poll.
  void look() noexcept {
    if (!std::exchange(was_read_, true)) read();
  }
  // Reads the clock.
  std::uint64_t read() noexcept { return now_ns_ = clock_(); }
  void end_poll() noexcept { was_read_ = false; }

 private:
  Function clock_;
  std::uint64_t now_ns_;
  bool was_read_ = false;
};

}  // namespace shmemx::ethernet
