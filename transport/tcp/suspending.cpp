// Connections that close although both PEs go on: when descriptors become few, the connection that was idle longest is
// suspended, and the next message opens it again.
//
// A side that suspends a connection sends a suspend frame as its last one, and reads on. The other side closes when it
// reads the frame: it has everything then. What it has sent itself, and the first side's kernel has not acknowledged
// yet, is sent once more on another connection, as after one that has broken (resuming.cpp); so is what the first side
// wants to send meanwhile. If neither side has anything, none follows. If both suspend the connection at once, the PE
// with the lower number closes it.
#include <algorithm>

#include "transport/common/descriptors.hpp"
#include "transport/tcp/socket.hpp"
#include "transport/tcp/tcp_transport.hpp"

namespace shmemx::tcp {

using transport::kFewestConnections;

namespace {

constexpr std::size_t kMostLeaving = 4;  // connections that wait for the other side to close them

}  // namespace

// Requests the suspension of the connection that was idle longest, but not of that of `spared`.
void TcpTransport::make_room(const Peer* spared) noexcept {
  if (closing_) return close_acknowledged();
  Peer* idlest = nullptr;
  std::size_t leaving = 0;
  for (Peer* const peer : up_) {
    if (peer->state == State::leaving) ++leaving;
    if (peer != spared && is_idle(*peer) && (idlest == nullptr || peer->used < idlest->used)) idlest = peer;
  }
  if (idlest != nullptr && leaving < kMostLeaving) leave(*idlest);
}

// While this PE closes: ends a connection on which the peer's kernel has everything, the shutdown frame included.
void TcpTransport::close_acknowledged() noexcept {
  const auto is_done = [](const Peer* peer) {
    return peer->state == State::up && peer->out.empty() && !peer->unconfirmed &&
           unacknowledged_bytes(peer->fd.get()) == 0;
  };
  const auto done = std::find_if(up_.begin(), up_.end(), is_done);
  if (done != up_.end()) lose(**done, {});
}

bool TcpTransport::no_descriptors() noexcept {
  make_room(nullptr);
  return up_.size() >= kFewestConnections;
}

bool TcpTransport::is_idle(const Peer& peer) noexcept {
  return peer.state == State::up && !peer.broken && !peer.blocked && peer.out.empty() && peer.in.between_frames() &&
         !peer.in.has_shut_down();
}

bool TcpTransport::suspend(int pe) noexcept {
  Peer* const peer = peers_.find(pe);
  if (peer == nullptr || !is_idle(*peer)) return false;
  leave(*peer);
  return true;
}

// Sends the suspend frame. Requires an idle peer. If the kernel takes a part of the frame only, another connection
// follows this one, on which it means nothing.
void TcpTransport::leave(Peer& peer) noexcept {
  peer.out.append_control(FrameKind::suspend, peer.connections);
  if (write(peer)) {
    peer.state = State::leaving;
  } else if (!peer.broken && replace(peer)) {
    reopen(peer);
  }
}

// After bytes of the peer have been taken: closes the connection if the other side has suspended it.
void TcpTransport::heed_suspend(Peer& peer) noexcept {
  if (!is_open(peer) || peer.in.suspends() != peer.connections || peer.is_replaced) return;
  const bool has_left = peer.state == State::leaving;
  if (has_left && setup_.me > peer.pe % setup_.n_pes) return;
  retire(peer);
  suspended(peer, has_left);
}

// The connection has ended because one side has suspended it. Another one follows if there is something to send: what
// the other side may lack, but not this side's suspend frame alone.
void TcpTransport::suspended(Peer& peer, bool has_left) noexcept {
  peer.state = State::suspended;
  peer.silent_since = 0;
  has_room_ = true;
  if (peer.in.between_frames()) peer.in.free_memory();
  const bool lacks_nothing = peer.out.unacknowledged() <= (has_left ? sizeof(FrameHeader) : 0);
  if (!lacks_nothing || acceptor_.knows(peer.pe)) return reopen(peer);
  stop_dial(peer);
  if (peer.out.is_acknowledged()) peer.out.drop();
}

// Connects again: this PE has something to send, the other side is connecting, or the last connection has broken.
void TcpTransport::reopen(Peer& peer) noexcept {
  peer.state = State::connecting;
  if (acceptor_.holds(peer.pe)) acceptor_.answer_held(peer.pe);
  if (!peer.dial && !acceptor_.knows(peer.pe)) start_dial(peer);
}

// Descriptors have become free.
void TcpTransport::use_room() noexcept {
  has_room_ = false;
  acceptor_.resume();
  const std::vector<Peer*> dialing = dialing_;
  for (Peer* const peer : dialing) {
    if (peer->dial && peer->dial->is_starved()) step_dial(*peer);
  }
}

}  // namespace shmemx::tcp
