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
      proof_(setup.secret, content_bytes_of(settings.own.mtu)),
      pool_(content_bytes_of(settings.own.mtu)),
      budget_{settings.ring_frames / 2, 0},
      window_(SendWindow::kFirstInFlight),
      peers_(static_cast<std::size_t>(setup.n_pes)),
      keepalive_(setup.silence_ms, clock()),
      now_ns_(clock()) {
  for (std::size_t i = 0; i < ports.size(); ++i) outlets_[i].port = ports[i];
}

Engine::~Engine() {
  if (!is_closing_) send_gone();
}

// ---- peers ----

// Returns what is kept of `pe`; makes it at the first contact.
Peer* Engine::contact(int pe) noexcept {
  EndpointAddress address;
  const bool has_address = addresses_ != nullptr && unpack_address(addresses_->address_of(pe), address);
  if (!has_address) address = {.mtu = kLeastMtu, .interfaces = 1};
  const std::size_t packet_bytes = content_bytes_of(std::min(address.mtu, settings_.own.mtu));
  Peer& made = peers_.add(
      pe, pe, address,
      Pulls::Settings{packet_bytes, settings_.block_packets, settings_.blocks, settings_.most_blocks,
                      std::min(address.interfaces, settings_.own.interfaces) > 1, settings_.resend_ns},
      Peer::Parts{pool_, *setup_.sink, *this, budget_, &is_active_, settings_.resend_ns, settings_.own.interfaces});
  if (is_closing_) made.inbound.queue().stop();
  if (!has_address) lose(made, "it has no endpoint address of ethernet");
  return &made;
}

// Marks the peer as lost; run() reports it, since it may call the sink.
void Engine::lose(Peer& peer, const std::string& cause) noexcept {
  if (peer.state == State::lost) return;
  peer.give_up();
  if (!is_closing_) lost_.push_back({peer.pe, cause});
}

void Engine::report_lost() noexcept {
  for (const Loss& loss : std::exchange(lost_, {})) {
    is_active_ = true;
    setup_.sink->lost(loss.pe, loss.cause);
  }
}

bool Engine::fetch(transport::InboundMessage& message) noexcept {
  Peer& peer = *peers_.find(message.queue->source());
  const std::uint32_t pushed = peer.inbound.pushed_of(message.fetch_key[0]);
  if (pushed != 0) look_at_clock();
  peer.pulls.begin(message.fetch_key[0], message, pushed, now_ns_);
  return false;
}

void Engine::out_of_memory(int source, std::size_t bytes) noexcept {
  lose(*peers_.find(source), "no memory for a message of " + std::to_string(bytes) + " bytes from it");
}

void Engine::ended_loan(int source, std::uint64_t handle) noexcept { peers_.find(source)->loans.end(handle); }

// ---- time ----

void Engine::run(bool has_more) noexcept {
  if (++turn_ % kTurnsPerLook == 0) look_at_clock();
  if (is_failing_) [[unlikely]]
    leave_failing_paths();
  if (!blocked_.is_empty()) [[unlikely]]
    retry_blocked();
  if (now_ns_ >= check_ns_ && (!has_more || now_ns_ - check_ns_ > kMostCheckNs)) check_time(now_ns_);
  if (!unacknowledged_.is_empty()) send_acks(false, now_ns_);
  is_timely_ = false;
  if (!lost_.empty()) report_lost();
}

// Reads the clock, once in a poll.
void Engine::look_at_clock() noexcept {
  if (!std::exchange(is_timely_, true)) now_ns_ = clock_();
}

void Engine::check_time(std::uint64_t now) noexcept {
  check_ns_ = now + std::min<std::uint64_t>(settings_.resend_ns / 4, 1'000'000);
  for (std::size_t i = 0; i < peers_.list().size(); ++i) expire(*peers_.list()[i], now);
  if (keepalive_.is_round_over(now)) end_keepalive_round();
}

void Engine::expire(Peer& peer, std::uint64_t now) noexcept {
  RoundTrip& round_trip = peer.paths.round_trip();
  if (round_trip.is_path_silent() && peer.paths.size() > 1) peer.paths.leave(failing_interfaces());
  if (peer.out.is_in_flight()) peer.out.expire(now, round_trip);
  if (peer.state == State::left && round_trip.is_hopeless()) peer.out.clear();
  if (peer.out.has_unsent()) transmit(peer);
  if (!peer.pulls.is_empty()) send_requests(peer, true);
}

void Engine::end_keepalive_round() noexcept {
  for (std::size_t i = 0; i < peers_.list().size(); ++i) {
    Peer& peer = *peers_.list()[i];
    if (!peer.is_watched()) continue;
    const Keepalive::Action action = Keepalive::end_round(peer.keepalive);
    if (action == Keepalive::Action::lose) {
      const bool are_several = peer.paths.size() > 1;
      lose(peer,
           transport::silence_text(setup_.silence_ms) +
               (are_several ? "; no path works now: " + paths_text(peer.paths, peer.endpoint.address(), true) : ""));
    }
    if (action == Keepalive::Action::ping) send_pings(peer);
  }
}

bool Engine::send_pending() noexcept {
  flush();
  look_at_clock();
  send_acks(true, now_ns_);
  is_timely_ = false;
  return lost_.empty() && deadline_ns() > now_ns_;
}

std::uint64_t Engine::deadline_ns() const noexcept {
  std::uint64_t first = blocked_.is_empty() ? ~std::uint64_t{0} : now_ns_ + kRetryNs;
  for (const Peer* const peer : peers_.list()) {
    const RoundTrip& round_trip = peer->paths.round_trip();
    first = std::min({first, peer->out.deadline_ns(round_trip), peer->pulls.deadline_ns(round_trip)});
    if (peer->is_watched()) first = std::min(first, keepalive_.round_end_ns());
  }
  return first;
}

// ---- the end ----

void Engine::begin_close() noexcept {
  is_closing_ = true;
  gathered_.clear();
  lost_.clear();
  for (std::size_t i = 0; i < peers_.list().size(); ++i) {
    Peer& peer = *peers_.list()[i];
    peer.inbound.queue().stop();
    peer.pulls.clear();
    peer.unsent.request.reset();
    if (peer.state != State::open) continue;
    peer.unsent.is_shutdown_due = true;
    append_notes(peer);
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
    if (peer->state == State::open) transmit(*peer, {.ignores_window = true});
  }
  unacknowledged_.clear();
  blocked_.clear();
  peers_.clear();
}

void Engine::send_gone() noexcept {
  for (Peer* const peer : peers_.list()) {
    if (peer->state == State::open) send_control(*peer, peer->paths.current(), FrameKind::gone, 0);
  }
}

}  // namespace shmemx::ethernet
