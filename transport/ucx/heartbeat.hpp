// When to look whether the other PEs are still there: in rounds of an eighth of the time that they may be silent.
// Whoever sleeps meanwhile is woken for it.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace shmemx::ucx {

inline constexpr std::uint32_t kRoundsUntilPing = 2;
inline constexpr std::uint32_t kRoundsUntilLost = 9;  // the first one is not a whole one

class Heartbeat {
 public:
  // Its descriptor is readable when `watched` is, or when a round is over.
  static Result<Heartbeat> open(int watched, std::uint32_t silence_ms);

  int descriptor() const noexcept { return epoll_.get(); }
  // A round is over; at most once for each.
  bool is_over() noexcept;
  // Before a sleep: be woken at the end of the round.
  void wake_me() noexcept;

 private:
  Heartbeat() = default;

  UniqueFd epoll_;
  UniqueFd timer_;
  std::uint64_t round_ns_ = 0;
  std::uint64_t next_ns_ = 0;
  bool is_set_ = false;
};

}  // namespace shmemx::ucx
