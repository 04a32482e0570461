// How long to wait for an acknowledgement before a frame is sent again: from measured round trips, as in TCP (RFC
// 6298), twice as long after each time that nothing came.
#pragma once

#include <algorithm>
#include <cstdint>

namespace shmemx::ethernet {

class RoundTrip {
 public:
  explicit RoundTrip(std::uint64_t least_ns) noexcept : least_ns_(least_ns) {}

  void add_sample(std::uint64_t ns) noexcept {
    if (smoothed_ns_ == 0) {
      smoothed_ns_ = std::max<std::uint64_t>(ns, 1);
      deviation_ns_ = ns / 2;
    } else {
      const std::uint64_t distance = ns > smoothed_ns_ ? ns - smoothed_ns_ : smoothed_ns_ - ns;
      deviation_ns_ = (3 * deviation_ns_ + distance) / 4;
      smoothed_ns_ = (7 * smoothed_ns_ + ns) / 8;
    }
    heard();
  }
  void back_off() noexcept { back_off_ = std::min(back_off_ + 1, kMostBackOff); }
  // Something has come from the peer.
  void heard() noexcept {
    back_off_ = first_ = 0;
    was_heard_ = true;
  }
  // Frames take another path. Each round over all paths waits twice as long on each.
  void change_path(bool is_new_round) noexcept {
    if (is_new_round) first_ = std::min(first_ + 1, kMostRounds);
    back_off_ = first_;
    was_heard_ = false;
  }
  // Returns whether something has come since the last change.
  bool was_heard() const noexcept { return was_heard_; }

  // Frames are overdue.
  bool is_late() const noexcept { return back_off_ != 0; }
  // So often that another path has to be tried.
  bool is_path_silent() const noexcept { return back_off_ >= first_ + kBackOffsOfPath; }
  // Nothing has come for so long that the wait does not grow any more.
  bool is_hopeless() const noexcept { return back_off_ == kMostBackOff || first_ == kMostRounds; }

  std::uint64_t smoothed_ns() const noexcept { return smoothed_ns_; }
  std::uint64_t resend_ns() const noexcept {
    const std::uint64_t wait = std::max(smoothed_ns_ + 4 * deviation_ns_, least_ns_);
    return std::min(wait << back_off_, std::max(kMostNs, least_ns_));
  }

 private:
  static constexpr unsigned kMostBackOff = 10;
  static constexpr unsigned kBackOffsOfPath = 3;
  static constexpr unsigned kMostRounds = 4;
  static constexpr std::uint64_t kMostNs = 200'000'000;

  std::uint64_t least_ns_;
  std::uint64_t smoothed_ns_ = 0;  // 0: no sample yet
  std::uint64_t deviation_ns_ = 0;
  unsigned back_off_ = 0;
  unsigned first_ = 0;  // back_off_ at the begin of a path
  bool was_heard_ = false;
};

}  // namespace shmemx::ethernet
