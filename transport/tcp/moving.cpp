// Connections that work and move to another interface: both rails to a PE are on one after a link was down, or the
// first rail, which carries all short messages, is on the slow one of two links.
//
// A connection that moves is dialed like one that follows a broken one, but on the chosen interface only, and it stays
// if that does not succeed soon. As soon as the other one is there, both sides continue their streams on it
// (resuming.cpp).
#include <algorithm>

#include "base/clock.hpp"
#include "transport/common/descriptors.hpp"
#include "transport/tcp/socket.hpp"
#include "transport/tcp/tcp_transport.hpp"

namespace shmemx::tcp {

namespace {

constexpr std::uint64_t kArrangeNs = 2'000'000'000;  // between two looks at the links to a PE
constexpr std::uint64_t kMoveNs = 2'000'000'000;     // time for the other interface to answer
constexpr std::uint64_t kStayNs = 10'000'000'000;    // between two moves of a first rail: both sides may request them

}  // namespace

// Returns whether nothing can follow the connection to this peer. A second rail that has never been up is tried again.
bool TcpTransport::is_over(const Peer& peer) noexcept {
  if (peer.state != State::ended) return false;
  return closing_ || !is_rail(peer.pe) || peer.connections != 0 || first_rail(peer.pe) == nullptr;
}

// Opens the second rail to a peer if there may be a link for it. Returns null if there is none.
TcpTransport::Peer* TcpTransport::begin_rail(Peer& peer) noexcept {
  const std::uint64_t now = now_ns();
  if (now < peer.arrange_ns) return nullptr;
  peer.arrange_ns = now + kArrangeNs;
  EndpointAddress endpoint;
  if (!unpack_address(addresses_->address_of(peer.pe), endpoint)) return nullptr;
  share_.own.look(now);
  if (!any_rail_ && links_to(endpoint, own(), machine_).size() < 2) return nullptr;
  Peer* const known = peers_.find(peer.pe + setup_.n_pes);
  Peer& rail = known != nullptr ? *known : add_peer(peer.pe + setup_.n_pes);
  if (is_over(rail)) return nullptr;
  rail.state = State::connecting;
  rail.failure.clear();
  start_dial(rail);
  return &rail;
}

// Looks now and then whether the two rails use the links in the best way.
void TcpTransport::arrange_links(Peer& peer, Peer& rail) noexcept {
  const std::uint64_t now = now_ns();
  if (now < peer.arrange_ns || closing_) return;
  peer.arrange_ns = now + kArrangeNs;
  const std::string& first = peer.path.interface;
  const std::string& second = rail.path.interface;
  if (first.empty() || second.empty()) return;
  if (first == second) {
    share_.own.look(now);
    move(rail, [&first](const Candidate& one) { return !one.interface.empty() && one.interface != first; });
  } else if (is_much_slower(peer, rail) && now > peer.stays_until) {
    peer.stays_until = now + kStayNs;
    move(peer, [&second](const Candidate& one) { return one.interface == second; });
  }
}

// Dials a peer that is connected, at the addresses for which `may_use` returns true.
template <class MayUse>
void TcpTransport::move(Peer& peer, const MayUse& may_use) noexcept {
  EndpointAddress endpoint;
  if (peer.state != State::up || peer.broken || peer.unconfirmed || peer.dial || acceptor_.knows(peer.pe)) return;
  if (transport::is_limit_near(peer.fd.get())) return;
  if (!unpack_address(addresses_->address_of(peer.pe % setup_.n_pes), endpoint)) return;
  std::vector<Candidate> candidates = candidates_to(peer, endpoint);
  std::erase_if(candidates, [&may_use](const Candidate& one) { return !may_use(one); });
  if (candidates.empty()) return;
  peer.is_moving = true;
  peer.dial = std::make_unique<Dial>(setup_, peer.pe, epoll_.get(), share_);
  peer.dial->set_candidates(endpoint, std::move(candidates));
  peer.dial->resume({.connections = peer.connections, .deadline = now_ns() + kMoveNs, .is_closing = closing_});
  begin_dial(peer);
}

void TcpTransport::stop_dial(Peer& peer) noexcept {
  peer.dial.reset();
  peer.is_moving = false;
  std::erase(dialing_, &peer);
}

bool TcpTransport::move(int pe) noexcept {
  Peer* const peer = peers_.find(pe);
  if (peer == nullptr) return false;
  move(*peer, [](const Candidate&) { return true; });
  return peer->is_moving;
}

}  // namespace shmemx::tcp
