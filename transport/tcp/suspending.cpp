// Connections that close although both PEs go on: when descriptors become few, the connection that was idle longest is
// suspended, and the next message opens it again.
//
// Both sides send a suspend frame as the last one of the connection. The side that has sent its own and has received
// the other one closes: nothing is under way then, in either direction. A side that receives the request while it has
// something to send declines with a keep frame, and both go on. If both request it at once, each takes the other's
// request for its answer. Messages to a PE whose answer is missing wait in the outbox, for the answer or for the next
// connection.
#include <algorithm>

#include "transport/common/descriptors.hpp"
#include "transport/tcp/socket.hpp"
#include "transport/tcp/tcp_transport.hpp"

namespace shmemx::tcp {

using transport::kFewestConnections;

namespace {

constexpr std::size_t kMostParting = 4;  // connections that wait for an answer

}  // namespace

// Requests the suspension of the connection that was idle longest, but not of that of `spared`.
void TcpTransport::make_room(const Peer* spared) noexcept {
  if (closing_) return close_acknowledged();
  Peer* idlest = nullptr;
  std::size_t parting = 0;
  for (Peer* const peer : up_) {
    if (peer->state == State::parting) ++parting;
    if (peer != spared && is_idle(*peer) && (idlest == nullptr || peer->used < idlest->used)) idlest = peer;
  }
  if (idlest != nullptr && parting < kMostParting) part(*idlest);
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
  part(*peer);
  return true;
}

// Sends the suspend frame, as a request or as the answer to one. Requires an idle peer.
void TcpTransport::part(Peer& peer) noexcept {
  peer.out.append_control(FrameKind::suspend);
  write(peer);
  if (peer.broken) return;
  peer.state = State::parting;
  peer.is_suspend_unsent = !peer.out.empty();
  finish_parting(peer);
}

// After bytes of the peer have been taken: acts on its suspend and keep frames. A keep frame that answers nothing means
// nothing: what it answers may have been lost with a connection that broke in the middle of the frame.
void TcpTransport::heed_control(Peer& peer) noexcept {
  if (peer.in.take_keep() && peer.state == State::parting && !peer.is_suspend_unsent) {
    peer.state = State::up;
    peer.used = turn_;
    if (closing_) append_shutdown(peer);
    write(peer);
  }
  if (!peer.in.has_suspended() || peer.in.has_shut_down() || !is_open(peer)) return;
  if (peer.state == State::parting) return finish_parting(peer);
  if (peer.broken) return;
  if (peer.out.empty() && !peer.blocked) return part(peer);
  peer.in.forget_suspend();
  peer.out.append_control(FrameKind::keep);
  write(peer);
}

// Closes the connection if both suspend frames have passed.
void TcpTransport::finish_parting(Peer& peer) noexcept {
  if (peer.state != State::parting || peer.is_suspend_unsent || !peer.in.has_suspended()) return;
  drop_acknowledged(peer);
  if (peer.blocked) --blocked_;
  peer.state = State::suspended;
  peer.silent_since = 0;
  peer.blocked = true;
  close_watched(epoll_.get(), peer.fd);
  peer.in.restart();
  some_ended_ = true;
  has_room_ = true;
  if (!peer.out.empty() || acceptor_.knows(peer.pe)) return reopen(peer);
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
