// Peers that wait for something of the engine, each listed once.
#pragma once

#include <vector>

#include "transport/ethernet/peer.hpp"

namespace shmemx::ethernet {

template <Peer::List which>
class PeerList {
 public:
  bool is_empty() const noexcept { return peers_.empty(); }
  // Returns false if the peer was listed already.
  bool add(Peer& peer) {
    if ((peer.lists & kBit) != 0) return false;
    peer.lists |= kBit;
    peers_.push_back(&peer);
    return true;
  }
  // Takes all peers from the list, then calls `act(peer)` for each, which may list it again.
  template <class Act>
  void take_each(Act act) {
    const std::size_t n = peers_.size();
    for (std::size_t i = 0; i < n; ++i) {
      remove(*peers_[i]);
      act(*peers_[i]);
    }
    if (n == peers_.size()) return peers_.clear();
    peers_.erase(peers_.begin(), peers_.begin() + static_cast<std::ptrdiff_t>(n));
  }
  // Takes those from the list for which `is_done(peer)`.
  template <class IsDone>
  void take_if(IsDone is_done) {
    std::erase_if(peers_, [&](Peer* peer) {
      if (!is_done(*peer)) return false;
      remove(*peer);
      return true;
    });
  }
  void clear() {
    take_each([](Peer&) {});
  }

 private:
  static constexpr auto kBit = static_cast<std::uint8_t>(which);  // in Peer::lists

  static void remove(Peer& peer) noexcept { peer.lists &= static_cast<std::uint8_t>(~kBit); }

  std::vector<Peer*> peers_;
};

}  // namespace shmemx::ethernet
