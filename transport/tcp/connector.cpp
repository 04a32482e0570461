#include "transport/tcp/connector.hpp"

#include <algorithm>

#include "transport/common/descriptors.hpp"
#include "transport/tcp/poller.hpp"
#include "transport/tcp/rails.hpp"
#include "transport/tcp/resume.hpp"
#include "transport/tcp/sender.hpp"
#include "transport/tcp/suspension.hpp"

namespace shmemx::tcp {

using transport::is_limit_near;

namespace {

constexpr std::uint64_t kMoveNs = 2'000'000'000;  // time for the other interface to answer

}  // namespace

Connector::Connector(const Parts& parts) noexcept
    : parts_(parts), acceptor_(parts.setup, *this), share_{&parts.setup} {}

Status Connector::open() {
  share_.epoll = parts_.poller.epoll();
  look(now_ns());
  machine_ = machine_id();
  if (parts_.setup.tcp_mac)
    hash_ = std::make_unique<transport::NhHash>(parts_.setup.secret, transport::Purpose::stream, Sealing::kRecordBytes);
  return acceptor_.open(parts_.poller.epoll());
}

std::string Connector::own_address() const {
  return pack_address({machine_, acceptor_.port(), addresses_to_publish(all_local_addresses())});
}

void Connector::close() noexcept {
  dialing_.clear();
  acceptor_.close();
}

bool Connector::find_endpoint(int pe, EndpointAddress& endpoint) const {
  return addresses_ != nullptr && unpack_address(addresses_->address_of(pe), endpoint);
}

std::vector<std::string> Connector::links_to(int pe) const {
  EndpointAddress endpoint;
  if (!find_endpoint(pe, endpoint)) return {};
  return tcp::links_to(endpoint, share_.own.list(), machine_);
}

bool Connector::has_several_links() const noexcept { return tcp::has_several_links(share_.own.list()); }

bool Connector::is_over(const Peer& peer) const noexcept {
  if (!peer.is(Peer::State::ended)) return false;
  const bool is_tried_again = parts_.peers.is_rail(peer) && peer.sockets() == 0;
  return parts_.peers.is_closing() || !is_tried_again || parts_.peers.first_of(peer) == nullptr;
}

// ---- dialing ----

void Connector::connect(Peer& peer) noexcept {
  if (!knows(peer)) start_dial(peer);
}

void Connector::reconnect(Peer& peer) noexcept {
  peer.reconnect();
  if (holds(peer)) acceptor_.answer_held(peer.pe);
  if (!peer.dial && !knows(peer)) start_dial(peer);
}

void Connector::start_dial(Peer& peer) noexcept {
  EndpointAddress endpoint;
  if (!find_endpoint(parts_.peers.pe_of(peer), endpoint)) {
    peer.ending.cause = "it has no endpoint address of tcp";
    if (!peer.is_open()) parts_.resume.give_up(peer);
    return;
  }
  peer.dialing = Peer::Dialing::connects;
  peer.dial = std::make_unique<Dial>(peer.pe, share_);
  look(now_ns());
  std::vector<Candidate> candidates = candidates_to(peer, endpoint);
  if (peer.sockets() != 0) {
    // If the other side has closed the connection, its machine replies at once that the PE has ended. Otherwise the
    // other paths are more likely to work.
    std::stable_partition(candidates.begin(), candidates.end(), [&peer](const Candidate& one) {
      return (one.interface == peer.path.interface) == peer.ending.was_closed;
    });
  }
  if (parts_.peers.is_rail(peer)) parts_.rails.arrange(peer, candidates);
  peer.dial->set_candidates(endpoint, std::move(candidates));
  if (peer.sockets() != 0) peer.dial->resume(parts_.resume.resumed(peer));
  begin_dial(peer);
}

// Returns the addresses to try. Those of this machine itself lead to no PE that has been connected over another one.
std::vector<Candidate> Connector::candidates_to(const Peer& peer, const EndpointAddress& endpoint) const {
  std::vector<Candidate> candidates = candidates_for(endpoint, share_.own.list(), machine_);
  if (peer.sockets() == 0 && !parts_.peers.is_rail(peer)) return candidates;
  std::erase_if(candidates, [&peer](const Candidate& one) {
    return one.is_own && !(peer.sockets() != 0 && one.address.same_host_as(peer.path.far));
  });
  return candidates;
}

void Connector::begin_dial(Peer& peer) noexcept {
  dialing_.push_back(&peer);
  step_dial(peer);
  parts_.poller.update_timer();
}

void Connector::stop_dial(Peer& peer) noexcept {
  peer.dial.reset();
  peer.dialing = Peer::Dialing::no;
  std::erase(dialing_, &peer);
}

// An interface may have become ready since the start: looks for some when no path of the last round has worked.
void Connector::add_paths(Peer& peer) noexcept {
  EndpointAddress endpoint;
  if (look(now_ns()) && find_endpoint(parts_.peers.pe_of(peer), endpoint))
    peer.dial->add_candidates(candidates_to(peer, endpoint));
}

void Connector::step_dial(Peer& peer) noexcept {
  share_.connections = parts_.peers.up().size();
  const bool is_moving = peer.dialing == Peer::Dialing::moves;
  const unsigned round = peer.dial->round();
  const Dial::State state = peer.dial->step(now_ns());
  if (state == Dial::State::trying) {
    if (peer.dial->round() != round && !parts_.peers.is_rail(peer) && !is_moving) add_paths(peer);
    if (peer.dial->is_starved()) return is_moving ? stop_dial(peer) : parts_.suspension.make_room(nullptr);
    return;
  }
  if (state == Dial::State::up) return connected(peer, peer.dial->take(), true);
  if (is_moving) return stop_dial(peer);  // the connection stays
  peer.ending.cause = failure_of(peer);
  stop_dial(peer);
  if (holds(peer)) return acceptor_.answer_held(peer.pe);
  parts_.resume.give_up(peer);
}

// Returns why there is no connection, from what its Dial reports.
std::string Connector::failure_of(const Peer& peer) const {
  if (peer.sockets() != 0) {
    const std::string& known = peer.ending.cause;
    const std::string cause = known.empty() ? transport::silence_text(parts_.setup.timeout_ms) : known;
    return peer.dial->was_refused() ? cause : cause + "; no path works now: " + peer.dial->paths();
  }
  const std::string table = peer.dial->table();
  return table.empty() ? "it has no address of a kind that this machine has (their interfaces are down, or have none)"
                       : "no address of it answers:" + table;
}

void Connector::on_timer() noexcept {
  const std::vector<Peer*> dialing = dialing_;
  for (Peer* const peer : dialing) {
    if (peer->dial) step_dial(*peer);
  }
  acceptor_.expire(now_ns());
}

void Connector::use_room() noexcept {
  acceptor_.resume();
  const std::vector<Peer*> dialing = dialing_;
  for (Peer* const peer : dialing) {
    if (peer->dial && peer->dial->is_starved()) step_dial(*peer);
  }
}

// ---- connections that work ----

// Dials a peer that is connected, at the addresses for which `may_use` returns true.
template <class MayUse>
void Connector::move(Peer& peer, const MayUse& may_use) noexcept {
  EndpointAddress endpoint;
  if (!peer.is(Peer::State::up) || peer.awaits_resume() || peer.dial || knows(peer)) return;
  if (is_limit_near(peer.fd())) return;
  if (!find_endpoint(parts_.peers.pe_of(peer), endpoint)) return;
  std::vector<Candidate> candidates = candidates_to(peer, endpoint);
  std::erase_if(candidates, [&may_use](const Candidate& one) { return !may_use(one); });
  if (candidates.empty()) return;
  peer.dialing = Peer::Dialing::moves;
  peer.dial = std::make_unique<Dial>(peer.pe, share_);
  peer.dial->set_candidates(endpoint, std::move(candidates));
  peer.dial->resume(
      {.connections = peer.sockets(), .deadline = now_ns() + kMoveNs, .is_closing = parts_.peers.is_closing()});
  begin_dial(peer);
}

void Connector::move_to(Peer& peer, const std::string& interface) noexcept {
  move(peer, [&interface](const Candidate& one) { return one.interface == interface; });
}

void Connector::move_off(Peer& peer, const std::string& interface) noexcept {
  look(now_ns());
  move(peer, [&interface](const Candidate& one) { return !one.interface.empty() && one.interface != interface; });
}

bool Connector::move(int pe) noexcept {
  Peer* const peer = parts_.peers.find(pe);
  if (peer == nullptr) return false;
  move(*peer, [](const Candidate&) { return true; });
  return peer->dialing == Peer::Dialing::moves;
}

void Connector::connected(Peer& peer, Connected made, bool was_dialed) noexcept {
  if (peer.is_open() && !parts_.resume.replace(peer)) return;
  stop_dial(peer);
  peer.sharing.speed = {};
  forget(peer);
  const bool follows = made.number > 1;
  std::unique_ptr<Sealing> sealing;
  if (hash_) sealing = std::make_unique<Sealing>(*hash_, made.keys);
  peer.open(std::move(made.fd), made.number, std::move(sealing), was_dialed || follows);
  tune(peer.fd(), parts_.setup.timeout_ms, parts_.setup.silence_ms);
  parts_.poller.add(peer);
  peer.ending.silent_since = 0;
  peer.ending.cause.clear();
  note_path(peer);
  parts_.peers.note_up(peer);
  if (!was_dialed || follows) parts_.sender.send_resume(peer);
  if (parts_.peers.is_closing()) peer.out.append_shutdown();
  parts_.sender.write(peer);
  if (is_limit_near(peer.fd())) parts_.suspension.make_room(&peer);
}

// Remembers which way the connection takes. One that has ended already may not know it.
void Connector::note_path(Peer& peer) noexcept {
  if (!ends_of(peer.fd(), peer.path)) return;
  peer.path.interface = share_.own.interface_with(peer.path.near);
  if (peer.path.interface.empty() && look(now_ns())) peer.path.interface = share_.own.interface_with(peer.path.near);
}

// ---- connections that others have dialed ----

// If both sides connect at once, the connection made by the PE of the lower number stays. A PE that finds no descriptor
// for its own leaves it to the other.
Acceptor::Answer Connector::may_answer(int pe, std::uint64_t connections) noexcept {
  Peer* const peer = parts_.peers.find(pe);
  if (peer == nullptr) return parts_.peers.is_closing() ? Acceptor::Answer::never : Acceptor::Answer::now;
  if (is_over(*peer)) return Acceptor::Answer::never;
  if (peer->is(Peer::State::suspended) && parts_.peers.is_closing() && peer->out.is_acknowledged())
    return Acceptor::Answer::never;
  // The other side may not know the present socket yet. If it does, that one is of no use to it any more.
  if (peer->is_open() && connections < peer->sockets()) return Acceptor::Answer::later;
  if (peer->dial && peer->dial->is_starved()) stop_dial(*peer);
  return peer->dial && parts_.setup.me < parts_.peers.pe_of(*peer) ? Acceptor::Answer::later : Acceptor::Answer::now;
}

std::uint64_t Connector::connections_with(int pe) noexcept {
  const Peer* const peer = parts_.peers.find(pe);
  return peer == nullptr ? 0 : peer->sockets();
}

void Connector::arrived(int pe, NetworkFd connection, std::uint64_t number, const ConnectionKeys& keys) noexcept {
  Peer& peer = parts_.peers.get(pe);
  if (is_over(peer)) return forget(peer);
  connected(peer, {std::move(connection), number, keys}, false);
}

void Connector::left(int pe) noexcept {
  Peer* const peer = parts_.peers.find(pe);
  if (peer == nullptr || !peer->is(Peer::State::connecting) || peer->dial || knows(*peer)) return;
  start_dial(*peer);
}

// This PE's own attempt to connect has not succeeded for long, or the other side has not noticed it: accept the other
// one. If that has not helped before, go on with both: the hello may be a repeated one.
bool Connector::kept_waiting(int pe) noexcept {
  Peer& peer = *parts_.peers.find(pe);
  if (knows(peer)) stop_dial(peer);
  acceptor_.answer_held(pe);
  return true;
}

bool Connector::no_descriptors() noexcept {
  parts_.suspension.make_room(nullptr);
  return parts_.peers.up().size() >= transport::kFewestConnections;
}

}  // namespace shmemx::tcp
