// One of the paths over which long payloads of a peer are pulled: the packets that are outstanding there, and their
// window.
#pragma once

#include <algorithm>
#include <cstdint>

#include "transport/ethernet/round_trip.hpp"

namespace shmemx::ethernet {

class PullLane {
 public:
  static constexpr std::uint32_t kLeastWindow = 4;  // packets

  PullLane(std::uint32_t window, std::uint32_t most) noexcept
      : window_(std::min(window, most)), most_(most), threshold_(window_) {}

  std::uint32_t window() const noexcept { return window_; }
  std::uint32_t outstanding() const noexcept { return outstanding_; }
  // When the last packet came.
  std::uint64_t moved_ns() const noexcept { return moved_ns_; }
  // Packets that have arrived.
  std::uint64_t arrived() const noexcept { return arrived_; }

  void note_requested(std::uint32_t packets) noexcept { outstanding_ += packets; }
  // Packets are requested over another path, or not at all any more.
  void give_up(std::uint32_t packets) noexcept { outstanding_ -= packets; }

  // A packet is here. Below the threshold the window grows by one for each packet, above it by one for each window of
  // them, but only while the window is what limits: with a block of `block_packets` more it would be full.
  void note_arrived(std::uint64_t now_ns, std::uint32_t block_packets) noexcept {
    --outstanding_;
    moved_ns_ = now_ns;
    ++arrived_;
    if (window_ >= most_ || outstanding_ + block_packets < window_) return;
    if (window_ < threshold_ || ++credit_ >= window_) {
      ++window_;
      credit_ = 0;
    }
  }

  // Halves the window, once for each round trip. Returns whether it did.
  bool note_loss(std::uint64_t now_ns, const RoundTrip& round_trip) noexcept {
    if (halved_ns_ != 0 && now_ns - halved_ns_ < round_trip.resend_ns()) return false;
    halved_ns_ = now_ns;
    window_ = threshold_ = std::max(window_ / 2, kLeastWindow);
    credit_ = 0;
    return true;
  }
  void clear() noexcept { outstanding_ = 0; }

 private:
  std::uint32_t window_;  // packets
  std::uint32_t most_;
  std::uint32_t threshold_;  // above it the window grows slowly
  std::uint32_t credit_ = 0;
  std::uint32_t outstanding_ = 0;
  std::uint64_t halved_ns_ = 0;
  std::uint64_t moved_ns_ = 0;
  std::uint64_t arrived_ = 0;
};

}  // namespace shmemx::ethernet
