#include "transport/ethernet/engine.hpp"

#include <algorithm>

namespace shmemx::ethernet {
namespace {

using transport::Keepalive;

constexpr unsigned kTurnsPerLook = 32;              // polls without anything new, to one look at the clock
constexpr std::uint64_t kMostCheckNs = 10'000'000;  // without a look at what is overdue
constexpr std::uint64_t kRetryNs = 50'000;          // a sleeper waits so long for room in the port's queue

}  // namespace

Engine::Engine(const transport::Setup& setup, const Settings& settings, std::span<Port* const> ports, Clock clock)
    : setup_(setup),
      settings_(settings),
      clock_(clock),
      peers_(setup_, settings_),
      paths_(setup.me, settings_, ports, clock_, counts_),
      writer_(setup_, settings_, paths_, clock_),
      sender_(peers_, paths_, writer_, clock_, counts_),
      receiver_(settings_, peers_, {paths_, writer_, sender_, clock_, counts_}),
      keepalive_(setup.silence_ms, clock_.now_ns()) {}

Engine::~Engine() {
  if (!peers_.is_closing()) send_gone();
}

// ---- time ----

void Engine::run(bool has_more) noexcept {
  if (++turn_ % kTurnsPerLook == 0) clock_.look();
  if (paths_.is_failing()) [[unlikely]]
    paths_.leave_failing(peers_.list());
  if (writer_.has_blocked()) [[unlikely]]
    sender_.retry_blocked();
  const std::uint64_t now = clock_.now_ns();
  if (now >= check_ns_ && (!has_more || now - check_ns_ > kMostCheckNs)) check_time(now);
  writer_.send_acks(false);
  clock_.end_poll();
  if (peers_.has_lost()) peers_.report();
}

void Engine::check_time(std::uint64_t now) noexcept {
  check_ns_ = now + std::min<std::uint64_t>(settings_.resend_ns / 4, 1'000'000);
  for (std::size_t i = 0; i < peers_.list().size(); ++i) expire(*peers_.list()[i], now);
  if (keepalive_.is_round_over(now)) end_keepalive_round();
}

void Engine::expire(Peer& peer, std::uint64_t now) noexcept {
  RoundTrip& round_trip = peer.paths.round_trip();
  paths_.leave_silent(peer);
  if (peer.out.is_in_flight()) peer.out.expire(now, round_trip);
  if (peer.state == State::left && round_trip.is_hopeless()) peer.out.clear();
  if (peer.out.has_unsent()) sender_.transmit(peer);
  if (!peer.pulls.is_empty()) sender_.send_requests(peer, true);
}

void Engine::end_keepalive_round() noexcept {
  for (std::size_t i = 0; i < peers_.list().size(); ++i) {
    Peer& peer = *peers_.list()[i];
    if (!peer.is_watched()) continue;
    const Keepalive::Action action = Keepalive::end_round(peer.keepalive);
    if (action == Keepalive::Action::lose) {
      std::string cause = transport::silence_text(setup_.silence_ms);
      if (peer.paths.size() > 1)
        cause += "; no path works now: " + paths_.text(peer.paths, peer.endpoint.address(), true);
      peers_.lose(peer, cause);
    }
    if (action == Keepalive::Action::ping) writer_.send_pings(peer);
  }
}

bool Engine::send_pending() noexcept {
  flush();
  clock_.look();
  writer_.send_acks(true);
  clock_.end_poll();
  return !peers_.has_lost() && deadline_ns() > clock_.now_ns();
}

std::uint64_t Engine::deadline_ns() const noexcept {
  std::uint64_t first = writer_.has_blocked() ? clock_.now_ns() + kRetryNs : ~std::uint64_t{0};
  for (const Peer* const peer : peers_.list()) {
    const RoundTrip& round_trip = peer->paths.round_trip();
    first = std::min({first, peer->out.deadline_ns(round_trip), peer->pulls.deadline_ns(round_trip)});
    if (peer->is_watched()) first = std::min(first, keepalive_.round_end_ns());
  }
  return first;
}

// ---- the end ----

void Engine::begin_close() noexcept {
  peers_.begin_close();
  sender_.begin_close();
  for (std::size_t i = 0; i < peers_.list().size(); ++i) {
    Peer& peer = *peers_.list()[i];
    peer.inbound.queue().stop();
    peer.pulls.clear();
    peer.unsent.request.reset();
    if (peer.state != State::open) continue;
    peer.unsent.is_shutdown_due = true;
    sender_.append_notes(peer);
  }
}

// A peer that has left needs nothing any more.
bool Engine::is_drained() noexcept {
  return std::all_of(peers_.list().begin(), peers_.list().end(), [](const Peer* peer) {
    return peer->state != State::open ||
           (peer->out.is_empty() && !peer->unsent.is_shutdown_due && peer->loans.is_empty());
  });
}

void Engine::end_close() noexcept {
  for (Peer* const peer : peers_.list()) {
    if (peer->state == State::open) sender_.send_all(*peer);
  }
  writer_.clear();
  peers_.clear();
}

void Engine::send_gone() noexcept {
  for (Peer* const peer : peers_.list()) {
    if (peer->state == State::open) writer_.send_control(*peer, peer->paths.current(), FrameKind::gone, 0);
  }
}

}  // namespace shmemx::ethernet
