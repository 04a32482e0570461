// Two links between two machines: a pair of PEs that exchange long payloads makes a second connection on another
// interface, its second rail. Everything travels on the first one, but of a long payload the second rail carries a
// part, as large as its share of the speed of both. A slow one is left alone. The first one moves to the second one's
// interface if that is much faster (moving.cpp).
//
// To the rest of this transport a rail is a peer of its own, numbered behind all PEs: it connects, is suspended and
// resumed as any other. It carries messages of one kind, the second parts of split messages. The first connection waits
// at a split message until its second part is there, so all messages stay in order.
#include <sys/socket.h>

#include <algorithm>

#include "base/clock.hpp"
#include "transport/tcp/socket.hpp"
#include "transport/tcp/tcp_transport.hpp"

namespace shmemx::tcp {

namespace {

constexpr std::size_t kSplitBytes = std::size_t{256} << 10;  // payloads from here on use both
constexpr std::size_t kLeastPart = std::size_t{64} << 10;
constexpr std::size_t kLeastSample = std::size_t{128} << 10;  // acknowledged bytes by which a speed is measured
// After so long, or so large a part of a sample, it is not known when a connection has become idle.
constexpr std::uint64_t kUnwatchedNs = 500'000;
constexpr std::uint64_t kPartUnwatched = 8;
constexpr std::size_t kShareUnit = std::size_t{4} << 10;
constexpr unsigned kSamples = 3;        // before a speed is believed
constexpr double kUnknownShare = 0.25;  // until then
constexpr double kLikeSpeed = 0.3;      // of both speeds together: a rail with more is as fast as the other one
constexpr double kMuchSlower = 4;       // a second rail that is slower by this factor is left alone
constexpr unsigned kTurnsAlone = 64;    // payloads until it is measured once more

}  // namespace

TcpTransport::Peer& TcpTransport::add_peer(int number) noexcept {
  Peer& peer = peers_.add(number, number, *setup_.sink);
  if (is_rail(number)) peer.in.expect_parts();
  if (!setup_.tcp_one_read) peer.in.read_parts();
  return peer;
}

// The second rail takes an interface that the first one does not use.
void TcpTransport::arrange_for_rail(const Peer& rail, std::vector<Candidate>& candidates) noexcept {
  const Peer* const first = peers_.find(rail.pe - setup_.n_pes);
  const std::string taken = first != nullptr && is_open(*first) ? first->path.interface : std::string {};
  const auto is_other = [&taken](const Candidate& one) { return !one.interface.empty() && one.interface != taken; };
  if (rail.connections == 0 && !any_rail_) {
    std::erase_if(candidates, [&is_other](const Candidate& one) { return !is_other(one); });
  } else {
    std::stable_partition(candidates.begin(), candidates.end(), is_other);
  }
}

// Returns the second rail to a peer if it can take a part now. The first call opens it.
TcpTransport::Peer* TcpTransport::rail_to(Peer& peer) noexcept {
  if (is_rail(peer.pe)) return nullptr;
  Peer* rail = peers_.find(peer.pe + setup_.n_pes);
  if (rail == nullptr || rail->state == State::ended) rail = begin_rail(peer);
  if (rail == nullptr) return nullptr;
  if (rail->state == State::suspended) reopen(*rail);
  const bool is_stuck = rail->dial && !rail->is_moving;
  return rail->state == State::up && !rail->unconfirmed && !rail->broken && !is_stuck ? rail : nullptr;
}

// Returns whether `one` is so slow that it is left alone. Both speeds have to be known.
bool TcpTransport::is_much_slower(const Peer& one, const Peer& other) noexcept {
  return one.speed.samples >= kSamples && other.speed.samples >= kSamples &&
         one.speed.bytes_per_ns * kMuchSlower < other.speed.bytes_per_ns;
}

// Notes how fast the other side acknowledges what is sent, while something is under way.
void TcpTransport::measure(Peer& peer, std::uint64_t now) noexcept {
  Speed& speed = peer.speed;
  const bool is_busy = !peer.out.is_acknowledged();
  const std::uint64_t bytes = peer.out.kept_from() - speed.from;
  const bool has_watched = now - speed.seen < std::max(kUnwatchedNs, (now - speed.since) / kPartUnwatched);
  speed.seen = now;
  if (speed.since == 0 || bytes >= kLeastSample || !is_busy) {
    if (speed.since != 0 && bytes >= kLeastSample && (is_busy || has_watched) && now > speed.since) {
      const double measured = static_cast<double>(bytes) / static_cast<double>(now - speed.since);
      ++speed.samples;
      speed.bytes_per_ns = speed.bytes_per_ns == 0 ? measured : (3 * speed.bytes_per_ns + measured) / 4;
    }
    speed.since = is_busy ? now : 0;
    speed.from = peer.out.kept_from();
  }
}

// A part is about to be sent. The time counts from here on if none is under way.
void TcpTransport::begin_measuring(Peer& peer, std::uint64_t now) noexcept {
  if (peer.speed.since == 0) {
    peer.speed.since = peer.speed.seen = now;
    peer.speed.from = peer.out.kept_from();
  }
  peer.speed.until = peer.out.kept_from() + peer.out.unacknowledged();
  if (!peer.measured) measured_.push_back(&peer);
  peer.measured = true;
}

void TcpTransport::measure_all() noexcept {
  const std::uint64_t now = now_ns();
  std::erase_if(measured_, [this, now](Peer* peer) {
    if (is_open(*peer)) drop_acknowledged(*peer);
    measure(*peer, now);
    peer->measured = is_open(*peer) && peer->out.kept_from() < peer->speed.until;
    if (!peer->measured) peer->speed.since = 0;
    return !peer->measured;
  });
}

// Returns how many bytes of a payload the second rail takes, so that both end at the same time: 0 or at least
// kLeastPart.
std::size_t TcpTransport::share_of_rail(Peer& peer, Peer& rail, std::size_t bytes) noexcept {
  const std::uint64_t now = now_ns();
  for (Peer* const one : {&peer, &rail}) {
    drop_acknowledged(*one);
    measure(*one, now);
  }
  const double first = peer.speed.bytes_per_ns;
  const double second = rail.speed.bytes_per_ns;
  if (peer.speed.samples < kSamples || rail.speed.samples < kSamples) {
    rail.share = kUnknownShare;
    return std::max(kLeastSample, static_cast<std::size_t>(static_cast<double>(bytes) * kUnknownShare));
  }
  rail.share = second / (first + second);
  if (rail.share > kLikeSpeed && rail.share < 1 - kLikeSpeed) rail.share = 0.5;  // the measurements are not exact
  if (is_much_slower(rail, peer)) {
    rail.share = 0;
    return ++rail.turns_alone % kTurnsAlone == 0 ? kLeastSample : 0;
  }
  const double first_waiting = static_cast<double>(peer.out.unacknowledged());
  const double second_waiting = static_cast<double>(rail.out.unacknowledged());
  const double part = (static_cast<double>(bytes) + first_waiting + second_waiting) * rail.share - second_waiting;
  if (part < static_cast<double>(kLeastPart)) return 0;
  return std::min(static_cast<std::size_t>(part) / kShareUnit * kShareUnit, bytes - kLeastPart);
}

// Sends a payload on both rails. Returns false if the first one is to take it alone.
bool TcpTransport::send_split(Peer& peer, const Header& fixed, Bytes header, Bytes payload,
                              Outgoing& outgoing) noexcept {
  if (payload.size() < kSplitBytes || !is_open(peer)) return false;
  Peer* const rail = rail_to(peer);
  if (rail == nullptr) return false;
  const std::size_t part = share_of_rail(peer, *rail, payload.size());
  arrange_links(peer, *rail);
  if (part == 0 || rail->state != State::up || !is_open(peer)) return false;
  const std::size_t first = payload.size() - part;
  Split& split = *splits_.emplace_back(std::make_unique<Split>());
  split.whole = &outgoing;
  const PartHeader place{peer.split_number++, first};
  rail->out.append_part(place, payload.subspan(first), split.second);
  rail->used = turn_;
  peer.out.append_split({place.number, payload.size()}, fixed, header, payload.first(first), split.first);
  for (Peer* const one : {&peer, rail}) begin_measuring(*one, now_ns());
  write(*rail);
  write(peer);
  lend(*rail);
  lend(peer);
  return true;
}

void TcpTransport::lend(Peer& peer) noexcept {
  if (!peer.lending) lending_.push_back(&peer);
  peer.lending = true;
}

// ---- receiving ----

TcpTransport::Peer* TcpTransport::first_rail(int rail) noexcept {
  Peer* const first = peers_.find(rail - setup_.n_pes);
  return first == nullptr || first->state == State::ended ? nullptr : first;
}

void TcpTransport::match_parts(Peer& one) noexcept {
  Peer* const first = is_rail(one.pe) ? first_rail(one.pe) : &one;
  Peer* const rail = is_rail(one.pe) ? &one : peers_.find(one.pe + setup_.n_pes);
  if (first == nullptr || rail == nullptr) return;
  match_parts(*first, *rail);
  some_unread_ = some_unread_ || has_unread(*first) || has_unread(*rail);
}

// Lets the decoders of both rails go on as far as they have what they need of each other: a place for the part at which
// the second one waits, and the part for which the first one waits. A part that arrives before its message has begun
// stays where it is, so the other side soon sends no more.
void TcpTransport::match_parts(Peer& first, Peer& rail) noexcept {
  while (first.state != State::ended && rail.state != State::ended) {
    if (rail.in.needs_place()) {
      if (!first.in.lacks_part()) return;
      std::byte* const place = first.in.place_of(rail.in);
      if (place == nullptr) return lose(first, "it sent a part of a message that does not fit");
      if (!rail.in.place_part(place)) return lose(first, std::string("it sent ") + rail.in.what_is_broken());
    } else if (rail.in.has_part()) {
      if (!first.in.complete_part()) return lose(first, std::string("it sent ") + first.in.what_is_broken());
      if (!rail.in.complete_part()) return lose(first, std::string("it sent ") + rail.in.what_is_broken());
      heed_suspend(first);
      heed_suspend(rail);
    } else {
      return;
    }
  }
}

// Goes on with connections that have waited for the other rail, as nothing else may report what has been read from
// their sockets.
bool TcpTransport::read_unread() noexcept {
  some_unread_ = false;
  bool progress = false;
  const std::vector<Peer*> up = up_;
  for (Peer* const peer : up) {
    if (is_open(*peer) && has_unread(*peer)) progress |= receive(*peer);
  }
  return progress;
}

// Reads what the kernel has for a connection that is about to be closed while its decoder waits.
void TcpTransport::keep_unread(Peer& peer) noexcept {
  if (peer.unconfirmed) return;
  std::vector<std::byte> unread(std::size_t{64} << 10);
  for (;;) {
    const iovec area{unread.data(), unread.size()};
    const ssize_t got = read(peer, &area, 1);
    if (got <= 0) return;
    peer.received += static_cast<std::size_t>(got);
    peer.in.keep(Bytes(unread).first(static_cast<std::size_t>(got)));
  }
}

std::string TcpTransport::rail_text(int pe) const {
  const Peer* const rail = peers_.find(pe + setup_.n_pes);
  if (rail == nullptr || !is_open(*rail)) return {};
  return "; second rail " + connection_text(rail->fd.get()) + ", " +
         std::to_string(static_cast<int>(rail->share * 100 + 0.5)) + " % of payloads from " +
         std::to_string(kSplitBytes) + " bytes";
}

bool TcpTransport::open_rail(int pe) noexcept {
  any_rail_ = true;
  Peer* const peer = peers_.find(pe);
  return peer != nullptr && rail_to(*peer) != nullptr;
}

}  // namespace shmemx::tcp
