#include "transport/tcp/suspension.hpp"

#include <algorithm>

#include "transport/tcp/connector.hpp"
#include "transport/tcp/resume.hpp"
#include "transport/tcp/sender.hpp"

namespace shmemx::tcp {

namespace {

constexpr std::size_t kMostLeaving = 4;  // connections that wait for the other side to close them

}  // namespace

void Suspension::make_room(const Peer* spared) noexcept {
  if (parts_.peers.is_closing()) return close_acknowledged();
  Peer* idlest = nullptr;
  std::size_t leaving = 0;
  for (Peer* const peer : parts_.peers.up()) {
    if (peer->is(Peer::State::leaving)) ++leaving;
    // A kernel whose queue is full takes no suspend frame.
    if (peer != spared && (idlest == nullptr || peer->used < idlest->used) && peer->is_idle() &&
        peer->is_acknowledged())
      idlest = peer;
  }
  if (idlest != nullptr && leaving < kMostLeaving) leave(*idlest);
}

// While this PE closes: ends a connection on which the peer's kernel has everything, the shutdown frame included.
void Suspension::close_acknowledged() noexcept {
  const std::vector<Peer*>& up = parts_.peers.up();
  const auto done = std::find_if(up.begin(), up.end(),
                                 [](const Peer* peer) { return peer->is(Peer::State::up) && peer->is_acknowledged(); });
  if (done != up.end()) parts_.resume.lose(**done, {});
}

bool Suspension::suspend(int pe) noexcept {
  Peer* const peer = parts_.peers.find(pe);
  if (peer == nullptr || !peer->is_idle()) return false;
  leave(*peer);
  return true;
}

// Sends the suspend frame. If the kernel takes a part of the frame only, another socket follows this one, on which it
// means nothing.
void Suspension::leave(Peer& peer) noexcept {
  peer.out.append_suspend(peer.sockets());
  if (parts_.sender.write(peer)) {
    peer.leave();
  } else if (peer.is(Peer::State::up) && parts_.resume.replace(peer)) {
    parts_.connector.reconnect(peer);
  }
}

void Suspension::heed(Peer& peer) noexcept {
  const bool has_left = peer.is(Peer::State::leaving);
  if (has_left && parts_.setup.me > parts_.peers.pe_of(peer)) return;
  parts_.resume.close_socket(peer);
  end(peer, has_left);
}

void Suspension::end(Peer& peer, bool has_left) noexcept {
  peer.ending.silent_since = 0;
  has_room_ = true;
  if (!peer.suspend(has_left) || parts_.connector.knows(peer)) return parts_.connector.reconnect(peer);
  parts_.connector.stop_dial(peer);
}

void Suspension::use_room() noexcept {
  if (std::exchange(has_room_, false)) parts_.connector.use_room();
}

}  // namespace shmemx::tcp
