#include "transport/tcp/tcp_transport.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>

namespace shmemx::tcp {

namespace {

// Polls to one call of epoll_wait: while connections are being made, with several connections, with few.
constexpr unsigned kTurnsBusy = 1;
constexpr unsigned kTurnsSeveral = 2;
constexpr unsigned kTurnsFew = 64;

}  // namespace

Status TcpTransport::open() {
  SHMEMX_TRY(poller_.open());
  SHMEMX_TRY(connector_.open());
  if (connector_.has_several_links()) rails_.open();
  return {};
}

transport::Capabilities TcpTransport::capabilities() const noexcept {
  return {.rma = false, .waits = true, .resumes = true, .short_bytes = kMaxPayloadBytes};
}

Sent TcpTransport::send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
                        Urgency urgency) noexcept {
  Peer* peer = peers_.find(pe);
  if (peer == nullptr) [[unlikely]] {
    peer = &peers_.get(pe);
    connector_.connect(*peer);
  }
  if (peer->is(Peer::State::ended)) [[unlikely]]
    return Sent::yes;
  if (peer->is(Peer::State::suspended)) [[unlikely]]
    connector_.reconnect(*peer);
  return sender_.send(*peer, fixed, header, payload, outgoing, urgency);
}

// ---- events ----

bool TcpTransport::poll(int expected) noexcept {
  const std::uint64_t turn = peers_.next_turn();
  bool progress = reader_.receive_likely(expected, turn);
  poller_.unwatch_busy();
  unsigned turns = poller_.has_few() ? kTurnsFew : kTurnsSeveral;
  if (peers_.up().empty() || poller_.any_blocked() || connector_.needs_timer()) turns = kTurnsBusy;
  if (turn % turns == 0) progress |= handle_events();
  progress |= reader_.read_unread();
  rails_.measure_all();
  if (sender_.is_lending()) sender_.release_lent();
  progress |= handle_failing();
  peers_.sweep();
  suspension_.use_room();
  return progress;
}

bool TcpTransport::handle_failing() noexcept {
  if (!peers_.has_failing()) return false;
  resume_.handle_failing();
  return true;
}

bool TcpTransport::handle_events() noexcept {
  std::array<epoll_event, 64> events;
  const int n = ::epoll_wait(poller_.epoll(), events.data(), static_cast<int>(events.size()), 0);
  bool progress = false;
  for (int i = 0; i < n; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const auto number = static_cast<int>(static_cast<std::uint32_t>(event.data.u64));
    switch (static_cast<EventKind>(event.data.u64 >> 32)) {
      case EventKind::listener:
        connector_.accept_some();
        break;
      case EventKind::timer:
        if (!poller_.take_timer()) break;
        connector_.on_timer();
        resume_.check_links(now_ns());
        break;
      case EventKind::wake:  // it only wakes sleeping threads
        break;
      case EventKind::connection:
        connector_.on_acceptor_event(number);
        break;
      case EventKind::dial:
        if (Peer* const peer = peers_.find(number)) connector_.on_dial_event(*peer);
        break;
      case EventKind::peer:
        progress |= handle_peer_event(*peers_.find(number), event.events);
        break;
    }
  }
  poller_.update_timer();
  return progress;
}

bool TcpTransport::handle_peer_event(Peer& peer, std::uint32_t events) noexcept {
  bool progress = false;
  if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0 && peer.is_blocked()) {
    sender_.write_more(peer);
    progress = true;
  }
  if (peer.is_open() && (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) progress |= reader_.receive(peer);
  return progress;
}

bool TcpTransport::arm() noexcept {
  poller_.watch_all();
  flush();
  poller_.update_timer(true);
  return !peers_.has_failing();
}

// ---- the end ----

// Returns true if the peers have acknowledged everything. Peers without a connection yet count while something waits
// for them.
bool TcpTransport::all_gone() noexcept {
  handle_events();
  resume_.handle_failing();
  return std::all_of(peers_.list().begin(), peers_.list().end(), [](const Peer* peer) {
    if (peer->is(Peer::State::ended) || peer->is(Peer::State::suspended)) return true;
    if (peer->is(Peer::State::connecting))
      return peer->out.is_acknowledged() || (!peer->dial && !peer->ending.cause.empty());
    return peer->is_acknowledged();
  });
}

void TcpTransport::close(std::uint32_t patience_ms) noexcept {
  peers_.begin_close();
  poller_.watch_all();
  for (Peer* const peer : peers_.up()) {
    if (peer->is(Peer::State::leaving)) peer->in.drop_messages();  // its control frames are still needed
    if (!peer->is_open() || peer->is(Peer::State::leaving)) continue;
    peer->out.append_shutdown();
    sender_.write(*peer);
  }
  const std::uint64_t deadline = now_ns() + std::uint64_t{patience_ms} * 1'000'000;
  // Not the library's waiting: that polls, and this runs inside a poll. An acknowledgement mostly takes one round trip.
  for (int i = 0; !all_gone() && now_ns() < deadline; ++i) {
    const timespec pause{0, i < 100 ? 10'000 : 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
  sender_.clear();
  for (Peer* const peer : peers_.up()) poller_.unblock(*peer);
  connector_.close();
  peers_.clear();
  rails_.close();  // the outboxes have referred to parts of payloads
  poller_.update_timer();
}

[[gnu::cold]] std::string TcpTransport::describe(int pe) const {
  const Peer* const peer = peers_.find(pe);
  std::string path = "not connected yet";
  if (peer != nullptr && peer->is_open()) path = connection_text(peer->fd());
  if (peer != nullptr && peer->is(Peer::State::suspended)) path = "not connected until the next message";
  if (peer != nullptr && peer->is(Peer::State::ended)) path = "the connection has ended";
  std::string text = path + "; payloads from " + std::to_string(kLongBytes) +
                     " bytes are sent and received without a copy; progress by poll or epoll";
  if (const std::vector<std::string> links = connector_.links_to(pe); links.size() > 1) {
    text += "; links";
    for (const std::string& link : links) text += (&link == &links.front() ? " " : ", ") + link;
  }
  return text + rails_.text(pe);
}

Result<transport::TransportPtr> open_tcp(const transport::Setup& setup) {
  auto opened = std::make_unique<TcpTransport>(setup);
  SHMEMX_TRY(opened->open());
  return transport::TransportPtr(std::move(opened));
}

}  // namespace shmemx::tcp
