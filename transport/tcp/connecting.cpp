// How the transport makes connections.
#include <sys/epoll.h>

#include <algorithm>

#include "base/clock.hpp"
#include "transport/common/descriptors.hpp"
#include "transport/tcp/socket.hpp"
#include "transport/tcp/tcp_transport.hpp"

namespace shmemx::tcp {

using transport::is_limit_near;

TcpTransport::Peer& TcpTransport::contact(int pe) noexcept {
  Peer& peer = peers_.add(pe, pe, *setup_.sink);
  if (!acceptor_.knows(pe)) start_dial(peer);
  return peer;
}

void TcpTransport::start_dial(Peer& peer) noexcept {
  EndpointAddress endpoint;
  if (addresses_ == nullptr || !unpack_address(addresses_->address_of(peer.pe), endpoint)) {
    peer.failure = "it has no endpoint address of tcp";
    failing_.push_back(&peer);
    return;
  }
  peer.dial = std::make_unique<Dial>(setup_, peer.pe, epoll_.get(), share_);
  peer.dial->set_candidates(endpoint, candidates_for(endpoint, own_, machine_));
  dialing_.push_back(&peer);
  step_dial(peer);
  update_timer();
}

void TcpTransport::step_dial(Peer& peer) noexcept {
  share_.connections = up_.size();
  const Dial::State state = peer.dial->step(now_ns());
  if (state == Dial::State::trying) {
    if (peer.dial->is_starved()) make_room(nullptr);
    return;
  }
  if (state == Dial::State::up) return connected(peer, peer.dial->take());
  const std::string table = peer.dial->table();
  peer.failure = table.empty()
                     ? "it has no address of a kind that this machine has (their interfaces are down, or have none)"
                     : "no address of it answers:" + table;
  peer.dial.reset();
  std::erase(dialing_, &peer);
  if (acceptor_.knows(peer.pe)) return acceptor_.answer_held(peer.pe);
  failing_.push_back(&peer);
}

void TcpTransport::connected(Peer& peer, UniqueFd fd) noexcept {
  peer.dial.reset();
  std::erase(dialing_, &peer);
  acceptor_.forget(peer.pe);
  peer.fd = std::move(fd);
  tune(peer.fd.get(), setup_.timeout_ms, setup_.silence_ms);
  watch_all();
  rewatch(epoll_.get(), peer.fd.get(), EPOLLIN, event_tag(EventKind::peer, peer.pe));
  peer.state = State::up;
  peer.blocked = false;
  peer.failure.clear();
  peer.used = turn_;
  if (std::find(up_.begin(), up_.end(), &peer) == up_.end())
    up_.push_back(&peer);  // a suspended one may be there still
  hot_ = &peer;
  if (closing_) peer.out.append_control(FrameKind::shutdown);
  write(peer);
  if (is_limit_near(peer.fd.get())) make_room(&peer);
}

// If both sides connect at once, the connection made by the PE of the lower number stays. A PE that finds no descriptor
// for its own leaves it to the other.
Acceptor::Answer TcpTransport::may_answer(int pe) noexcept {
  Peer* const peer = peers_.find(pe);
  if (peer == nullptr || peer->state == State::suspended)
    return closing_ ? Acceptor::Answer::never : Acceptor::Answer::now;
  if (peer->state == State::parting) return Acceptor::Answer::later;  // the end of the old connection is under way
  if (peer->state != State::connecting) return Acceptor::Answer::never;
  if (peer->dial && peer->dial->is_starved()) {
    peer->dial.reset();
    std::erase(dialing_, peer);
  }
  return peer->dial && setup_.me < pe ? Acceptor::Answer::later : Acceptor::Answer::now;
}

void TcpTransport::arrived(int pe, UniqueFd connection) noexcept {
  Peer* const known = peers_.find(pe);
  Peer& peer = known != nullptr ? *known : peers_.add(pe, pe, *setup_.sink);
  if (peer.state == State::connecting || peer.state == State::suspended) return connected(peer, std::move(connection));
  acceptor_.forget(pe);
}

void TcpTransport::left(int pe) noexcept {
  Peer* const peer = peers_.find(pe);
  if (peer == nullptr || peer->state != State::connecting || peer->dial || acceptor_.knows(pe)) return;
  start_dial(*peer);
}

// This PE's own attempt to connect has not succeeded for long, so accept the other one. If it waits for the end of a
// suspended connection, it goes on waiting.
bool TcpTransport::kept_waiting(int pe) noexcept {
  Peer& peer = *peers_.find(pe);
  if (is_open(peer)) return false;
  peer.dial.reset();
  std::erase(dialing_, &peer);
  acceptor_.answer_held(pe);
  return true;
}

}  // namespace shmemx::tcp
