// Notices peers that have gone without a word: providers tell of it late or not at all. Who has been silent for half
// the time is asked for a sign of life, and lost when none comes in the other half.
#pragma once

#include <cstdint>

#include "transport/ofi/outbound.hpp"
#include "transport/ofi/peer.hpp"

namespace shmemx::ofi {

class Vigil {
 public:
  Vigil(Peers& peers, Outbound& outbound, std::uint32_t silence_ms) noexcept
      : peers_(peers), outbound_(outbound), half_ms_(silence_ms / 2 + 1) {}

  // With each poll(), after what has come in was looked at.
  void look();
  // An operation has failed and nobody knows whose: all have to answer.
  void ask_all();

 private:
  void look_at(Peer& peer, std::uint64_t now_ms);

  Peers& peers_;
  Outbound& outbound_;
  std::uint64_t half_ms_;
  std::uint64_t looked_ms_ = 0;
  std::uint32_t polls_ = 0;
};

}  // namespace shmemx::ofi
