// The end of a job in which a network may fail with the last messages.
#include <time.h>

#include <algorithm>

#include "am/net_channel.hpp"
#include "base/clock.hpp"

namespace shmemx::am {

// A PE that has passed the last barrier needs nothing of the others. They may need what it has sent before. One that is
// gone, and whose last message was lost, is noticed by a message to it.
void NetChannel::finish(std::uint32_t patience_ms) noexcept {
  constexpr timespec kPause{0, 50'000};
  constexpr std::uint32_t kBusyPolls = 1000;
  constexpr std::uint64_t kMarkNs = 500'000'000;
  is_finishing_ = true;
  const auto is_unfinished = [this](int pe) {
    const NetPeer& peer = peers_[pe];
    return !peer.has_left && (peer.executed != peer.sent || kept_.holds(pe));
  };
  const std::uint64_t deadline = now_ns() + std::uint64_t{patience_ms} * 1'000'000U;
  std::uint64_t next_mark = now_ns() + kMarkNs;
  std::uint32_t polls = 0;
  while (std::any_of(contacts_.begin(), contacts_.end(), is_unfinished) && now_ns() < deadline) {
    if (!poll(-1, ++polls) && polls > kBusyPolls) ::nanosleep(&kPause, nullptr);
    if (now_ns() < next_mark) continue;
    next_mark = now_ns() + kMarkNs;
    for (const int pe : contacts_) {
      if (is_unfinished(pe)) static_cast<void>(send(pe, {.id = kMark}, {}, {}));
    }
  }
}

}  // namespace shmemx::am
