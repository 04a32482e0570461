#include "transport/tcp/rails.hpp"

#include <algorithm>

#include "transport/common/link_share.hpp"
#include "transport/tcp/connector.hpp"
#include "transport/tcp/reader.hpp"
#include "transport/tcp/resume.hpp"
#include "transport/tcp/sender.hpp"
#include "transport/tcp/suspension.hpp"

namespace shmemx::tcp {

using transport::kSplitBytes;

namespace {

constexpr std::size_t kLeastPart = std::size_t{64} << 10;
constexpr std::size_t kShareUnit = std::size_t{4} << 10;
constexpr double kUnknownShare = 0.25;  // until the speeds are known
constexpr double kLikeSpeed = 0.3;      // of both speeds together: a rail with more is as fast as the other one
constexpr unsigned kTurnsAlone = 64;    // payloads until a slow one is measured once more
constexpr std::uint64_t kArrangeNs = 2'000'000'000;  // between two looks at the links to a PE
constexpr std::uint64_t kStayNs = 10'000'000'000;    // between two moves of a first rail: both sides may request them

}  // namespace

// ---- making and moving them ----

void Rails::arrange(const Peer& rail, std::vector<Candidate>& candidates) const {
  const Peer* const first = parts_.peers.first_of(rail);
  const std::string taken = first != nullptr && first->is_open() ? first->path.interface : std::string {};
  const auto is_other = [&taken](const Candidate& one) { return !one.interface.empty() && one.interface != taken; };
  if (rail.sockets() == 0 && !takes_any_) {
    std::erase_if(candidates, [&is_other](const Candidate& one) { return !is_other(one); });
  } else {
    std::stable_partition(candidates.begin(), candidates.end(), is_other);
  }
}

// Opens the second rail to a peer if there may be a link for it. Returns null if there is none.
Peer* Rails::begin(Peer& peer) noexcept {
  const std::uint64_t now = now_ns();
  if (now < peer.sharing.arrange_ns) return nullptr;
  peer.sharing.arrange_ns = now + kArrangeNs;
  parts_.connector.look(now);
  if (!takes_any_ && parts_.connector.links_to(peer.pe).size() < 2) return nullptr;
  Peer& rail = parts_.peers.get(peer.pe + parts_.setup.n_pes);
  if (parts_.connector.is_over(rail)) return nullptr;
  rail.reconnect();
  rail.ending.cause.clear();
  parts_.connector.start_dial(rail);
  return &rail;
}

// Returns the second rail to a peer if it can take a part now. The first call opens it.
Peer* Rails::rail_to(Peer& peer) noexcept {
  if (parts_.peers.is_rail(peer)) return nullptr;
  Peer* rail = parts_.peers.rail_of(peer);
  if (rail == nullptr || rail->is(Peer::State::ended)) rail = begin(peer);
  if (rail == nullptr) return nullptr;
  if (rail->is(Peer::State::suspended)) parts_.connector.reconnect(*rail);
  const bool is_stuck = rail->dial && rail->dialing != Peer::Dialing::moves;
  return rail->is(Peer::State::up) && !rail->awaits_resume() && !is_stuck ? rail : nullptr;
}

// Looks now and then whether the two rails use the links in the best way.
void Rails::arrange_links(Peer& peer, Peer& rail) noexcept {
  const std::uint64_t now = now_ns();
  if (now < peer.sharing.arrange_ns || parts_.peers.is_closing()) return;
  peer.sharing.arrange_ns = now + kArrangeNs;
  const std::string& first = peer.path.interface;
  const std::string& second = rail.path.interface;
  if (first.empty() || second.empty()) return;
  if (first == second) {
    parts_.connector.move_off(rail, first);
  } else if (peer.sharing.speed.is_much_slower_than(rail.sharing.speed) && now > peer.sharing.stays_until) {
    peer.sharing.stays_until = now + kStayNs;
    parts_.connector.move_to(peer, second);
  }
}

bool Rails::open_on_any(int pe) noexcept {
  may_split_ = takes_any_ = true;
  Peer* const peer = parts_.peers.find(pe);
  return peer != nullptr && rail_to(*peer) != nullptr;
}

// ---- sending ----

void Rails::begin_measuring(Peer& peer, std::uint64_t now) noexcept {
  peer.sharing.speed.begin(peer.out, now);
  if (!std::exchange(peer.is_measured, true)) measured_.push_back(&peer);
}

void Rails::measure_all() noexcept {
  if (measured_.empty()) return;
  const std::uint64_t now = now_ns();
  std::erase_if(measured_, [now](Peer* peer) {
    if (peer->is_open()) peer->drop_acknowledged();
    Speed& speed = peer->sharing.speed;
    speed.measure(peer->out, now);
    if (peer->is_open() && speed.is_under_way(peer->out)) return false;
    speed.end();
    peer->is_measured = false;
    return true;
  });
}

// Returns how many bytes of a payload the second rail takes, so that both end at the same time: 0 or at least
// kLeastPart.
std::size_t Rails::share_of(Peer& peer, Peer& rail, std::size_t bytes) noexcept {
  const std::uint64_t now = now_ns();
  for (Peer* const one : {&peer, &rail}) {
    one->drop_acknowledged();
    one->sharing.speed.measure(one->out, now);
  }
  const Speed& first = peer.sharing.speed;
  const Speed& second = rail.sharing.speed;
  if (!first.is_known() || !second.is_known()) {
    return std::max(Speed::kLeastSample, static_cast<std::size_t>(static_cast<double>(bytes) * kUnknownShare));
  }
  double share = second.bytes_per_ns() / (first.bytes_per_ns() + second.bytes_per_ns());
  if (share > kLikeSpeed && share < 1 - kLikeSpeed) share = 0.5;  // the measurements are not exact
  if (second.is_much_slower_than(first)) {
    return ++rail.sharing.turns_alone % kTurnsAlone == 0 ? Speed::kLeastSample : 0;
  }
  const double first_waiting = static_cast<double>(peer.out.unacknowledged());
  const double second_waiting = static_cast<double>(rail.out.unacknowledged());
  const double part = (static_cast<double>(bytes) + first_waiting + second_waiting) * share - second_waiting;
  if (part < static_cast<double>(kLeastPart)) return 0;
  return std::min(static_cast<std::size_t>(part) / kShareUnit * kShareUnit, bytes - kLeastPart);
}

bool Rails::send_split(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Outgoing& outgoing) noexcept {
  if (payload.size() < kSplitBytes || !peer.is_open()) return false;
  Peer* const rail = rail_to(peer);
  if (rail == nullptr) return false;
  const std::size_t part = share_of(peer, *rail, payload.size());
  arrange_links(peer, *rail);
  rail->sharing.long_bytes += payload.size();
  if (part == 0 || !rail->is(Peer::State::up) || !peer.is_open()) return false;
  const std::size_t first = payload.size() - part;
  rail->sharing.part_bytes += part;
  Split& split = *splits_.emplace_back(std::make_unique<Split>());
  split.whole = &outgoing;
  const PartHeader place{peer.sharing.split_number++, first};
  rail->out.append_part(place, payload.subspan(first), split.second);
  parts_.peers.note_use(*rail);
  peer.out.append_split({place.number, payload.size()}, fixed, header, payload.first(first), split.first);
  for (Peer* const one : {&peer, rail}) begin_measuring(*one, now_ns());
  parts_.sender.write(*rail);
  parts_.sender.write(peer);
  parts_.sender.lend(*rail);
  parts_.sender.lend(peer);
  return true;
}

void Rails::release_splits() noexcept {
  std::erase_if(splits_, [](const std::unique_ptr<Split>& split) {
    if (!split->first.done || !split->second.done) return false;
    split->whole->done = true;
    return true;
  });
}

// ---- receiving ----

void Rails::match_parts(Peer& one) noexcept {
  if (parts_.peers.is_closing()) return;  // nobody takes messages any more
  const bool is_rail = parts_.peers.is_rail(one);
  Peer* const first = is_rail ? parts_.peers.first_of(one) : &one;
  Peer* const rail = is_rail ? &one : parts_.peers.rail_of(one);
  if (first == nullptr || rail == nullptr) return;
  match(*first, *rail);
  for (Peer* const peer : {first, rail}) {
    if (peer->has_unread()) parts_.reader.note_unread();
    if (peer->is_suspended_by_other()) parts_.suspension.heed(*peer);
  }
}

// The second rail needs a place for the part at which it waits, and the first one the part for which it waits. A part
// that arrives before its message has begun stays where it is, so the other side soon sends no more.
void Rails::match(Peer& first, Peer& rail) noexcept {
  const auto broken = [this, &first](const Decoder& in) {
    parts_.resume.lose(first, std::string("it sent ") + in.what_is_broken());
  };
  while (!first.is(Peer::State::ended) && !rail.is(Peer::State::ended)) {
    if (rail.in.needs_place()) {
      if (!first.in.lacks_part()) return;
      std::byte* const place = first.in.place_of(rail.in);
      if (place == nullptr) return parts_.resume.lose(first, "it sent a part of a message that does not fit");
      if (!rail.in.place_part(place)) return broken(rail.in);
    } else if (rail.in.has_part()) {
      if (!first.in.complete_part()) return broken(first.in);
      if (!rail.in.complete_part()) return broken(rail.in);
    } else {
      return;
    }
  }
}

// ---- the rest ----

[[gnu::cold]] std::string Rails::text(int pe) const {
  const Peer* const rail = parts_.peers.find(pe + parts_.setup.n_pes);
  if (rail == nullptr || !rail->is_open()) return {};
  const std::uint64_t whole = std::max(rail->sharing.long_bytes, std::uint64_t{1});
  return "; second rail " + connection_text(rail->fd()) + ", " +
         std::to_string((rail->sharing.part_bytes * 100 + whole / 2) / whole) + " % of payloads from " +
         std::to_string(kSplitBytes) + " bytes";
}

void Rails::close() noexcept {
  measured_.clear();
  for (const std::unique_ptr<Split>& split : splits_) split->whole->done = true;
  splits_.clear();
}

}  // namespace shmemx::tcp
