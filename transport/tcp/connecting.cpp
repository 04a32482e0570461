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
  Peer& peer = add_peer(pe);
  if (!acceptor_.knows(pe)) start_dial(peer);
  return peer;
}

void TcpTransport::start_dial(Peer& peer) noexcept {
  EndpointAddress endpoint;
  if (addresses_ == nullptr || !unpack_address(addresses_->address_of(peer.pe % setup_.n_pes), endpoint)) {
    peer.failure = "it has no endpoint address of tcp";
    if (!is_open(peer)) give_up(peer);
    return;
  }
  peer.is_given_up = false;
  peer.dial = std::make_unique<Dial>(setup_, peer.pe, epoll_.get(), share_);
  share_.own.look(now_ns());
  std::vector<Candidate> candidates = candidates_to(peer, endpoint);
  if (peer.connections != 0) {
    // If the other side has closed the connection, its machine replies at once that the PE has ended. Otherwise the
    // other paths are more likely to work.
    std::stable_partition(candidates.begin(), candidates.end(), [&peer](const Candidate& one) {
      return (one.interface == peer.path.interface) == peer.was_closed;
    });
  }
  if (is_rail(peer.pe)) arrange_for_rail(peer, candidates);
  peer.dial->set_candidates(endpoint, std::move(candidates));
  if (peer.connections != 0) peer.dial->resume(resumed(peer));
  begin_dial(peer);
}

// Returns the addresses to try. Those of this machine itself lead to no PE that has been connected over another one.
std::vector<Candidate> TcpTransport::candidates_to(const Peer& peer, const EndpointAddress& endpoint) const {
  std::vector<Candidate> candidates = candidates_for(endpoint, own(), machine_);
  if (peer.connections == 0 && !is_rail(peer.pe)) return candidates;
  std::erase_if(candidates, [&peer](const Candidate& one) {
    return one.is_own && !(peer.connections != 0 && one.address.same_host_as(peer.path.far));
  });
  return candidates;
}

void TcpTransport::begin_dial(Peer& peer) noexcept {
  dialing_.push_back(&peer);
  step_dial(peer);
  update_timer();
}

// An interface may have become ready since the start: looks for some when no path of the last round has worked.
void TcpTransport::add_paths(Peer& peer) noexcept {
  EndpointAddress endpoint;
  if (share_.own.look(now_ns()) && unpack_address(addresses_->address_of(peer.pe % setup_.n_pes), endpoint))
    peer.dial->add_candidates(candidates_to(peer, endpoint));
}

void TcpTransport::step_dial(Peer& peer) noexcept {
  share_.connections = up_.size();
  const unsigned round = peer.dial->round();
  const Dial::State state = peer.dial->step(now_ns());
  if (state == Dial::State::trying) {
    if (peer.dial->round() != round && !is_rail(peer.pe) && !peer.is_moving) add_paths(peer);
    if (peer.dial->is_starved()) return peer.is_moving ? stop_dial(peer) : make_room(nullptr);
    return;
  }
  if (state == Dial::State::up) {
    return connected(peer, {peer.dial->take(), peer.dial->number(), peer.dial->keys(), true});
  }
  if (peer.is_moving) return stop_dial(peer);  // the connection stays
  peer.failure = failure_of(peer);
  stop_dial(peer);
  if (acceptor_.holds(peer.pe)) return acceptor_.answer_held(peer.pe);
  give_up(peer);
}

// There is no way to connect to the PE any more. This alone decides so; poll() reports it, since only poll() may call
// the sink, unless the PE is heard again before.
void TcpTransport::give_up(Peer& peer) noexcept {
  peer.is_given_up = true;
  failing_.push_back(&peer);
}

// Returns why there is no connection, from what its Dial reports.
std::string TcpTransport::failure_of(const Peer& peer) const {
  if (peer.connections != 0) {
    const std::string cause = peer.failure.empty() ? transport::silence_text(setup_.timeout_ms) : peer.failure;
    return peer.dial->was_refused() ? cause : cause + "; no path works now: " + peer.dial->paths();
  }
  const std::string table = peer.dial->table();
  return table.empty() ? "it has no address of a kind that this machine has (their interfaces are down, or have none)"
                       : "no address of it answers:" + table;
}

void TcpTransport::connected(Peer& peer, Connection connection) noexcept {
  if (is_open(peer) && !replace(peer)) return;
  stop_dial(peer);
  peer.speed = {};
  acceptor_.forget(peer.pe);
  peer.fd = std::move(connection.fd);
  if (hash_) peer.sealing = std::make_unique<Sealing>(*hash_, connection.keys);
  tune(peer.fd.get(), setup_.timeout_ms, setup_.silence_ms);
  watch_all();
  rewatch(epoll_.get(), peer.fd.get(), EPOLLIN, event_tag(EventKind::peer, peer.pe));
  peer.state = State::up;
  peer.connections = connection.number;
  peer.blocked = false;
  peer.is_given_up = false;
  peer.silent_since = 0;
  peer.failure.clear();
  note_path(peer);
  peer.used = turn_;
  if (std::find(up_.begin(), up_.end(), &peer) == up_.end())
    up_.push_back(&peer);  // a suspended one may be there still
  hot_ = &peer;
  peer.resume_bytes = 0;
  peer.unconfirmed = connection.was_dialed || connection.number > 1;
  if (!connection.was_dialed || connection.number > 1) confirm(peer);
  if (closing_) append_shutdown(peer);
  write(peer);
  if (is_limit_near(peer.fd.get())) make_room(&peer);
}

// Remembers which way the connection takes. One that has ended already may not know it.
void TcpTransport::note_path(Peer& peer) noexcept {
  if (!ends_of(peer.fd.get(), peer.path)) return;
  peer.path.interface = share_.own.interface_with(peer.path.near);
  if (peer.path.interface.empty() && share_.own.look(now_ns()))
    peer.path.interface = share_.own.interface_with(peer.path.near);
}

// If both sides connect at once, the connection made by the PE of the lower number stays. A PE that finds no descriptor
// for its own leaves it to the other.
Acceptor::Answer TcpTransport::may_answer(int pe, std::uint64_t connections) noexcept {
  Peer* const peer = peers_.find(pe);
  if (peer == nullptr) return closing_ ? Acceptor::Answer::never : Acceptor::Answer::now;
  if (is_over(*peer)) return Acceptor::Answer::never;
  if (peer->state == State::suspended && closing_ && peer->out.is_acknowledged()) return Acceptor::Answer::never;
  // The other side may not know the present connection yet. If it does, that one is of no use to it any more.
  if (is_open(*peer) && connections < peer->connections) return Acceptor::Answer::later;
  if (peer->dial && peer->dial->is_starved()) stop_dial(*peer);
  return peer->dial && setup_.me < pe % setup_.n_pes ? Acceptor::Answer::later : Acceptor::Answer::now;
}

std::uint64_t TcpTransport::connections_with(int pe) noexcept {
  const Peer* const peer = peers_.find(pe);
  return peer == nullptr ? 0 : peer->connections;
}

void TcpTransport::arrived(int pe, NetworkFd connection, std::uint64_t number, const ConnectionKeys& keys) noexcept {
  Peer* const known = peers_.find(pe);
  Peer& peer = known != nullptr ? *known : add_peer(pe);
  if (!is_over(peer)) return connected(peer, {std::move(connection), number, keys, false});
  acceptor_.forget(pe);
}

void TcpTransport::left(int pe) noexcept {
  Peer* const peer = peers_.find(pe);
  if (peer == nullptr || peer->state != State::connecting || peer->dial || acceptor_.knows(pe)) return;
  start_dial(*peer);
}

// This PE's own attempt to connect has not succeeded for long, or the other side has not noticed it: accept the other
// one. If that has not helped before, go on with both: the hello may be a repeated one.
bool TcpTransport::kept_waiting(int pe) noexcept {
  Peer& peer = *peers_.find(pe);
  if (acceptor_.knows(pe)) stop_dial(peer);
  acceptor_.answer_held(pe);
  return true;
}

}  // namespace shmemx::tcp
