#include "transport/ofi/vigil.hpp"

#include <time.h>

namespace shmemx::ofi {
namespace {

constexpr std::uint32_t kPollsPerLook = 16;

std::uint64_t coarse_ms() noexcept {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

}  // namespace

void Vigil::look() {
  if (++polls_ % kPollsPerLook != 0) return;
  const std::uint64_t now_ms = coarse_ms();
  const std::uint64_t gap_ms = now_ms - looked_ms_;
  if (gap_ms < half_ms_ / 8) return;
  looked_ms_ = now_ms;
  for (Peer* peer : peers_.reached()) {
    // While nobody looked nothing could be heard: that time is not theirs.
    if (gap_ms > half_ms_ / 2) {
      peer->heard_ms += gap_ms;
      peer->pinged_ms += peer->pinged_ms != 0 ? gap_ms : 0;
    }
    look_at(*peer, now_ms);
  }
}

void Vigil::look_at(Peer& peer, std::uint64_t now_ms) {
  if (peer.is_lost || peer.has_left) return;
  if (peer.is_heard || peer.heard_ms == 0 || peer.heard_ms > now_ms) {
    peer.is_heard = false;
    peer.heard_ms = now_ms;
    peer.pinged_ms = 0;
  } else if (peer.pinged_ms == 0) {
    if (now_ms - peer.heard_ms < half_ms_) return;
    peer.pinged_ms = now_ms;
    outbound_.send_control(peer, Record::ping, 0);
  } else if (now_ms >= peer.pinged_ms + half_ms_) {
    peers_.fail(peer, transport::silence_text(2 * (half_ms_ - 1)));
  }
}

void Vigil::ask_all() {
  for (Peer* peer : peers_.reached()) {
    if (!peer->is_lost && !peer->has_left) outbound_.send_control(*peer, Record::ping, 0);
  }
}

}  // namespace shmemx::ofi
