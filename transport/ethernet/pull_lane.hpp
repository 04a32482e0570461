// One of the paths over which long payloads of a peer are pulled: the packets that are outstanding there, and their
// window.
#pragma once

#include <cstdint>

#include "transport/ethernet/congestion_window.hpp"
#include "transport/ethernet/round_trip.hpp"

namespace shmemx::ethernet {

class PullLane {
 public:
  static constexpr std::uint32_t kLeastWindow = 4;  // packets

  PullLane(std::uint32_t window, std::uint32_t most) noexcept : window_(window, kLeastWindow, most) {}

  std::uint32_t window() const noexcept { return window_.size(); }
  std::uint32_t outstanding() const noexcept { return outstanding_; }
  // When the last packet came.
  std::uint64_t moved_ns() const noexcept { return moved_ns_; }
  // Packets that have arrived.
  std::uint64_t arrived() const noexcept { return arrived_; }

  void note_requested(std::uint32_t packets) noexcept { outstanding_ += packets; }
  // Packets are requested over another path, or not at all any more.
  void give_up(std::uint32_t packets) noexcept { outstanding_ -= packets; }

  // A packet is here. The window grows only while it is what limits: with a block of `block_packets` more it would be
  // full.
  void note_arrived(std::uint64_t now_ns, std::uint32_t block_packets) noexcept {
    --outstanding_;
    moved_ns_ = now_ns;
    ++arrived_;
    if (outstanding_ + block_packets >= window_.size()) window_.grow();
  }

  // Halves the window, once for each round trip. Returns whether it did.
  bool note_loss(std::uint64_t now_ns, const RoundTrip& round_trip) noexcept {
    if (halved_ns_ != 0 && now_ns - halved_ns_ < round_trip.resend_ns()) return false;
    halved_ns_ = now_ns;
    window_.halve();
    return true;
  }
  void clear() noexcept { outstanding_ = 0; }

 private:
  CongestionWindow window_;  // packets
  std::uint32_t outstanding_ = 0;
  std::uint64_t halved_ns_ = 0;
  std::uint64_t moved_ns_ = 0;
  std::uint64_t arrived_ = 0;
};

}  // namespace shmemx::ethernet
