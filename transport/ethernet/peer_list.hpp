// Peers that wait for something of the engine, each listed once.
#pragma once

#include <vector>

#include "transport/ethernet/peer.hpp"

namespace shmemx::ethernet {

class PeerList {
 public:
  explicit PeerList(Peer::List which) noexcept : bit_(static_cast<std::uint8_t>(which)) {}

  bool is_empty() const noexcept { return peers_.empty(); }
  // Returns false if the peer was listed already.
  bool add(Peer& peer) {
    if ((peer.lists & bit_) != 0) return false;
    peer.lists |= bit_;
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
  void remove(Peer& peer) const noexcept { peer.lists &= static_cast<std::uint8_t>(~bit_); }

  std::uint8_t bit_;  // in Peer::lists
  std::vector<Peer*> peers_;
};

}  // namespace shmemx::ethernet
