#include "transport/tcp/peers.hpp"

#include <algorithm>

namespace shmemx::tcp {

Peer& Peers::get(int number) noexcept {
  if (Peer* const known = contacts_.find(number)) return *known;
  Peer& peer = contacts_.add(number, number, *setup_->sink);
  if (is_rail(peer)) peer.in.expect_parts();
  if (!setup_->tcp_one_read) peer.in.read_parts();
  return peer;
}

Peer* Peers::first_of(const Connection& rail) const noexcept {
  Peer* const first = contacts_.find(rail.pe - setup_->n_pes);
  return first == nullptr || first->is(Connection::State::ended) ? nullptr : first;
}

void Peers::note_up(Peer& peer) {
  if (std::find(up_.begin(), up_.end(), &peer) == up_.end()) up_.push_back(&peer);  // its last socket may have ended
  hot_ = &peer;
  peer.used = turn_;
}

void Peers::sweep() noexcept {
  if (!std::exchange(some_ended_, false)) return;
  std::erase_if(up_, [](const Peer* peer) { return !peer->is_open(); });
  if (hot_ != nullptr && !hot_->is_open()) hot_ = nullptr;
}

void Peers::clear() noexcept {
  up_.clear();
  failing_.clear();
  hot_ = nullptr;
  contacts_.clear();
}

}  // namespace shmemx::tcp
