#include "transport/tcp/tcp_transport.hpp"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/clock.hpp"
#include "transport/tcp/socket.hpp"

namespace shmemx::tcp {

namespace {

constexpr std::size_t kDirectBytes = std::size_t{4} << 10;   // bodies from here on are not copied before they are sent
constexpr std::size_t kGatherBytes = std::size_t{64} << 10;  // leave without waiting for flush()
constexpr std::size_t kQueueBytes = std::size_t{256} << 10;  // copied for one peer, then send() says no
constexpr std::size_t kMaxSegments = 1024;
constexpr std::size_t kFewConnections = 2;  // are looked at one by one, without asking epoll first
constexpr unsigned kReadsBeforeUnwatch = 64;
constexpr int kReadsAtOnce = 8;        // from one peer, before others get their turn
constexpr long kTimerNs = 25'000'000;  // between looks at what takes too long, while there is something

}  // namespace

TcpTransport::TcpTransport(const transport::Setup& setup)
    : setup_(setup), gate_(setup_, *this), peers_(static_cast<std::size_t>(setup.n_pes)) {}

Status TcpTransport::open() {
  epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.valid()) return system_error("create an epoll descriptor");
  timer_ = UniqueFd(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!timer_.valid()) return system_error("create a timer");
  if (!watch(epoll_.get(), timer_.get(), EPOLLIN, event_tag(EventKind::timer, 0))) return system_error("watch a timer");
  bell_ = UniqueFd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!bell_.valid()) return system_error("create an event descriptor");
  if (!watch(epoll_.get(), bell_.get(), EPOLLIN, event_tag(EventKind::bell, 0))) return system_error("watch an event");
  own_ = local_addresses();
  machine_ = machine_id();
  return gate_.open(epoll_.get());
}

transport::Capabilities TcpTransport::capabilities() const noexcept {
  return {.rma = false, .waits = true, .short_bytes = kLongBytes};
}

std::string TcpTransport::card() const {
  Card card{machine_, gate_.port(), {}};
  for (const LocalAddress& local : own_) {
    if (!local.address.is_loopback()) card.addresses.push_back(local.address);
  }
  return pack_card(card);
}

// ---- connecting ----

TcpTransport::Peer& TcpTransport::contact(int pe) noexcept {
  peers_[static_cast<std::size_t>(pe)] = std::make_unique<Peer>(pe, *setup_.sink);
  Peer& peer = *peers_[static_cast<std::size_t>(pe)];
  if (!gate_.knows(pe)) start_dial(peer);
  return peer;
}

void TcpTransport::start_dial(Peer& peer) noexcept {
  Card card;
  if (cards_ == nullptr || !unpack_card(cards_->card_of(peer.pe), card)) {
    peer.failure = "it has no card of tcp";
    failing_.push_back(&peer);
    return;
  }
  peer.dial = std::make_unique<Dial>(setup_, peer.pe, epoll_.get());
  peer.dial->set_ways(card, candidates_for(card, own_, machine_));
  dialing_.push_back(&peer);
  step_dial(peer);
  update_timer();
}

void TcpTransport::step_dial(Peer& peer) noexcept {
  const Dial::State state = peer.dial->step(now_ns());
  if (state == Dial::State::trying) return;
  if (state == Dial::State::up) return connected(peer, peer.dial->take());
  peer.failure = "no address of it answers:" + peer.dial->table();
  peer.dial.reset();
  std::erase(dialing_, &peer);
  if (gate_.knows(peer.pe)) return gate_.answer_held(peer.pe);
  failing_.push_back(&peer);
}

void TcpTransport::connected(Peer& peer, UniqueFd fd) noexcept {
  peer.dial.reset();
  std::erase(dialing_, &peer);
  gate_.forget(peer.pe);
  peer.fd = std::move(fd);
  tune(peer.fd.get(), setup_.timeout_ms);
  watch_all();
  rewatch(epoll_.get(), peer.fd.get(), EPOLLIN, event_tag(EventKind::peer, peer.pe));
  peer.state = State::up;
  peer.blocked = false;
  peer.failure.clear();
  up_.push_back(&peer);
  hot_ = &peer;
  if (closing_) peer.out.append_good_bye();
  write(peer);
}

// When both sides connect at once, the connection of the lower number stays.
Gate::Answer TcpTransport::may_answer(int pe) noexcept {
  const Peer* const peer = peers_[static_cast<std::size_t>(pe)].get();
  if (peer == nullptr) return closing_ ? Gate::Answer::never : Gate::Answer::now;
  if (peer->state != State::connecting) return Gate::Answer::never;
  return peer->dial && setup_.me < pe ? Gate::Answer::later : Gate::Answer::now;
}

void TcpTransport::arrived(int pe, UniqueFd connection) noexcept {
  std::unique_ptr<Peer>& peer = peers_[static_cast<std::size_t>(pe)];
  if (!peer) peer = std::make_unique<Peer>(pe, *setup_.sink);
  if (peer->state == State::connecting) return connected(*peer, std::move(connection));
  gate_.forget(pe);
}

void TcpTransport::left(int pe) noexcept {
  Peer* const peer = peers_[static_cast<std::size_t>(pe)].get();
  if (peer == nullptr || peer->state != State::connecting || peer->dial || gate_.knows(pe)) return;
  start_dial(*peer);
}

// The own connection does not get through: no reason to insist on it.
void TcpTransport::kept_waiting(int pe) noexcept {
  Peer& peer = *peers_[static_cast<std::size_t>(pe)];
  peer.dial.reset();
  std::erase(dialing_, &peer);
  gate_.answer_held(pe);
}

// ---- sending ----

Sent TcpTransport::send(int pe, const Head& head, Bytes header, Bytes body, Outgoing* outgoing,
                        Urgency urgency) noexcept {
  Peer* known = peers_[static_cast<std::size_t>(pe)].get();
  Peer& peer = known != nullptr ? *known : contact(pe);
  if (peer.state == State::ended || peer.mute) [[unlikely]]
    return Sent::yes;
  if (body.size() >= kDirectBytes && (urgency == Urgency::now || body.size() >= kLongBytes)) {
    return send_large(peer, head, header, body, outgoing);
  }
  if (peer.out.copied() >= kQueueBytes) [[unlikely]] {
    if (!write(peer)) return Sent::no;
  }
  peer.out.append(head, header, body);
  if (urgency == Urgency::gather && peer.out.copied() < kGatherBytes) {
    if (!peer.gathered) gathered_.push_back(&peer);
    peer.gathered = true;
  } else {
    write(peer);
  }
  return Sent::yes;
}

Sent TcpTransport::send_large(Peer& peer, const Head& head, Bytes header, Bytes body, Outgoing* outgoing) noexcept {
  if (!write(peer)) {
    if (peer.out.segments() >= kMaxSegments) return Sent::no;
    if (outgoing != nullptr) {
      peer.out.append_lasting(head, header, body, *outgoing);
      return Sent::later;
    }
    if (!peer.out.empty() && peer.out.copied() + body.size() > kQueueBytes) return Sent::no;
    peer.out.append(head, header, body);
    return Sent::yes;
  }
  if (peer.mute) return Sent::yes;
  const std::size_t payload_bytes = header.size() + body.size();
  const FrameHeader frame{static_cast<std::uint32_t>(payload_bytes), FrameKind::message, 0, head};
  alignas(FrameHeader) std::byte front[sizeof frame + kMaxHeaderBytes];
  std::byte padding[kFrameAlignment] = {};
  std::memcpy(front, &frame, sizeof frame);
  if (!header.empty()) std::memcpy(front + sizeof frame, header.data(), header.size());
  iovec areas[] = {{front, sizeof frame + header.size()},
                   {const_cast<std::byte*>(body.data()), body.size()},
                   {padding, padding_of(payload_bytes)}};
  msghdr message{};
  message.msg_iov = areas;
  message.msg_iovlen = 3;
  ssize_t sent = ::sendmsg(peer.fd.get(), &message, MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) {
    write_failed(peer, errno);
    return Sent::yes;
  }
  sent = std::max<ssize_t>(sent, 0);
  if (static_cast<std::size_t>(sent) == areas[0].iov_len + areas[1].iov_len + areas[2].iov_len) return Sent::yes;
  const bool stays = peer.out.append_rest({front, areas[0].iov_len}, body, static_cast<std::size_t>(sent), outgoing);
  block(peer);
  return stays ? Sent::later : Sent::yes;
}

// True when nothing waits any more.
bool TcpTransport::write(Peer& peer) noexcept {
  if (peer.blocked) return false;
  if (peer.out.empty()) return true;
  const Outbox::Written written = peer.out.write(peer.fd.get());
  if (written == Outbox::Written::all) return true;
  if (written == Outbox::Written::some) {
    block(peer);
    return false;
  }
  write_failed(peer, errno);
  return true;
}

void TcpTransport::block(Peer& peer) noexcept {
  peer.blocked = true;
  ++blocked_;
  watch_all();
  rewatch(epoll_.get(), peer.fd.get(), EPOLLIN | EPOLLOUT, event_tag(EventKind::peer, peer.pe));
}

// What the peer has sent before, a good-bye perhaps, is still read; poll() then finds the end.
void TcpTransport::write_failed(Peer& peer, int error) noexcept {
  peer.mute = true;
  peer.failure = error_text(error);
  peer.out.drop();
  failing_.push_back(&peer);
}

void TcpTransport::flush() noexcept {
  for (Peer* const peer : gathered_) {
    peer->gathered = false;
    if (peer->state == State::up) write(*peer);
  }
  gathered_.clear();
}

// ---- receiving ----

bool TcpTransport::poll(int expected) noexcept {
  ++turn_;
  bool progress = receive_directly(expected);
  if (watching_ && reads_ >= kReadsBeforeUnwatch) unwatch_all();
  const unsigned turns = up_.empty() || blocked_ != 0 || !dialing_.empty() || gate_.has_deadlines() ? 1
                         : up_.size() > kFewConnections                                             ? 2
                                                                                                    : 64;
  if (turn_ % turns == 0) progress |= handle_events();
  if (!failing_.empty()) progress |= handle_failing();
  if (some_ended_) sweep();
  return progress;
}

// The peers that something is likely to come from.
bool TcpTransport::receive_directly(int expected) noexcept {
  Peer* wanted = nullptr;
  if (expected >= 0 && expected < setup_.n_pes) wanted = peers_[static_cast<std::size_t>(expected)].get();
  if (wanted != nullptr && wanted->state != State::up) wanted = nullptr;
  if (up_.size() > kFewConnections) {
    if (wanted == nullptr) wanted = hot_;
    return wanted != nullptr && wanted->state == State::up && receive(*wanted);
  }
  bool progress = wanted != nullptr && receive(*wanted);
  if (wanted != nullptr && turn_ % 4 != 0) return progress;
  for (Peer* const peer : up_) {
    if (peer != wanted && peer->state == State::up) progress |= receive(*peer);
  }
  return progress;
}

bool TcpTransport::receive(Peer& peer) noexcept {
  if (closing_) [[unlikely]]
    return drain(peer);
  bool progress = false;
  for (int i = 0; i < kReadsAtOnce; ++i) {
    iovec areas[2];
    const int n = peer.in.areas(areas);
    if (n == 0) {
      lose(peer, "no memory to receive from it");
      return true;
    }
    const ssize_t got =
        n == 1 ? ::recv(peer.fd.get(), areas[0].iov_base, areas[0].iov_len, 0) : ::readv(peer.fd.get(), areas, 2);
    if (got <= 0) {
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return progress;
      ended(peer, got == 0 ? 0 : errno);
      return true;
    }
    progress = true;
    ++reads_;
    hot_ = &peer;
    if (!peer.in.advance(static_cast<std::size_t>(got))) {
      lose(peer, std::string("it sent ") + peer.in.what_is_broken());
      return true;
    }
    const std::size_t asked = areas[0].iov_len + (n == 1 ? 0 : areas[1].iov_len);
    if (static_cast<std::size_t>(got) < asked) return true;
  }
  return progress;
}

// While this PE is closing, what comes in concerns nobody.
bool TcpTransport::drain(Peer& peer) noexcept {
  std::array<std::byte, 4096> rest;
  const ssize_t got = ::recv(peer.fd.get(), rest.data(), rest.size(), 0);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) ended(peer, 0);
  return got > 0;
}

void TcpTransport::ended(Peer& peer, int error) noexcept {
  if (peer.in.said_good_bye()) {
    lose(peer, {});
  } else if (error != 0) {
    lose(peer, error_text(error));
  } else {
    lose(peer, peer.failure.empty() ? "it has closed the connection without a good-bye" : peer.failure);
  }
}

// An empty cause: it said good-bye.
void TcpTransport::lose(Peer& peer, const std::string& cause) noexcept {
  const std::string text = cause;  // it may lie in the peer
  if (peer.state == State::up && peer.blocked) --blocked_;
  peer.state = State::ended;
  peer.blocked = true;
  peer.fd.reset();
  peer.out.drop();
  peer.dial.reset();
  std::erase(dialing_, &peer);
  gate_.forget(peer.pe);
  some_ended_ = true;
  if (!text.empty() && !closing_) setup_.sink->lost(peer.pe, text);
}

void TcpTransport::sweep() noexcept {
  some_ended_ = false;
  std::erase_if(up_, [](const Peer* peer) { return peer->state != State::up; });
  if (hot_ != nullptr && hot_->state != State::up) hot_ = nullptr;
}

bool TcpTransport::handle_events() noexcept {
  std::array<epoll_event, 64> events;
  const int n = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  bool progress = false;
  for (int i = 0; i < n; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const auto number = static_cast<int>(static_cast<std::uint32_t>(event.data.u64));
    switch (static_cast<EventKind>(event.data.u64 >> 32)) {
      case EventKind::listener:
        gate_.accept_some();
        break;
      case EventKind::timer:
        handle_timer();
        break;
      case EventKind::bell:  // for sleepers
        break;
      case EventKind::stranger:
        gate_.on_event(number);
        break;
      case EventKind::dial:
        if (Peer* peer = peers_[static_cast<std::size_t>(number)].get(); peer != nullptr && peer->dial)
          step_dial(*peer);
        break;
      case EventKind::peer:
        progress |= handle_peer_event(number, event.events);
        break;
    }
  }
  update_timer();
  return progress;
}

bool TcpTransport::handle_peer_event(int pe, std::uint32_t events) noexcept {
  Peer& peer = *peers_[static_cast<std::size_t>(pe)];
  if (peer.state != State::up) return false;
  bool progress = false;
  if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0 && peer.blocked && !peer.mute) {
    const Outbox::Written written = peer.out.write(peer.fd.get());
    if (written != Outbox::Written::some) {
      peer.blocked = false;
      --blocked_;
      rewatch(epoll_.get(), peer.fd.get(), EPOLLIN, event_tag(EventKind::peer, pe));
    }
    if (written == Outbox::Written::failed) write_failed(peer, errno);
    progress = true;
  }
  if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) progress |= receive(peer);
  return progress;
}

void TcpTransport::handle_timer() noexcept {
  std::uint64_t times = 0;
  if (::read(timer_.get(), &times, sizeof times) < 0) return;
  const std::vector<Peer*> dialing = dialing_;
  for (Peer* const peer : dialing) {
    if (peer->dial) step_dial(*peer);
  }
  gate_.expire(now_ns());
}

// Runs while something may take too long.
void TcpTransport::update_timer() noexcept {
  const bool wanted = !dialing_.empty() || gate_.has_deadlines();
  if (wanted == timer_runs_) return;
  itimerspec time{};
  if (wanted) time.it_value.tv_nsec = time.it_interval.tv_nsec = kTimerNs;
  ::timerfd_settime(timer_.get(), 0, &time, nullptr);
  timer_runs_ = wanted;
}

bool TcpTransport::handle_failing() noexcept {
  std::vector<Peer*> failing;
  failing.swap(failing_);
  for (Peer* const peer : failing) {
    if (peer->state == State::up) {
      receive(*peer);
    } else if (peer->state == State::connecting && !peer->dial && !gate_.knows(peer->pe)) {
      lose(*peer, peer->failure);
    }
  }
  return true;
}

void TcpTransport::watch_all() noexcept {
  reads_ = 0;
  if (watching_) return;
  watching_ = true;
  std::uint64_t times = 0;
  [[maybe_unused]] const ssize_t got = ::read(bell_.get(), &times, sizeof times);
  for (const Peer* const peer : up_) {
    if (peer->state == State::up) watch(epoll_.get(), peer->fd.get(), EPOLLIN, event_tag(EventKind::peer, peer->pe));
  }
}

void TcpTransport::unwatch_all() noexcept {
  reads_ = 0;
  if (blocked_ != 0 || up_.size() > kFewConnections) return;
  watching_ = false;
  for (const Peer* const peer : up_) unwatch(epoll_.get(), peer->fd.get());
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(bell_.get(), &one, sizeof one);
}

bool TcpTransport::arm() noexcept {
  watch_all();
  flush();
  return failing_.empty();
}

// ---- the end ----

// True when everything is acknowledged. Peers that are still being connected to count while something waits for them.
bool TcpTransport::all_gone() noexcept {
  handle_events();
  failing_.clear();
  return std::all_of(peers_.begin(), peers_.end(), [](const std::unique_ptr<Peer>& peer) {
    if (!peer || peer->state == State::ended) return true;
    if (peer->state == State::connecting) return peer->out.empty() || (!peer->dial && !peer->failure.empty());
    return peer->out.empty() && unacknowledged_bytes(peer->fd.get()) == 0;
  });
}

void TcpTransport::close(std::uint32_t patience_ms) noexcept {
  closing_ = true;
  watch_all();
  gathered_.clear();
  for (Peer* const peer : up_) {
    if (peer->state != State::up || peer->mute) continue;
    peer->out.append_good_bye();
    write(*peer);
  }
  const std::uint64_t deadline = now_ns() + std::uint64_t{patience_ms} * 1'000'000;
  // Not wait_for(): it polls, and this is called by whoever polls. An acknowledgement takes one trip, mostly.
  for (int i = 0; !all_gone() && now_ns() < deadline; ++i) {
    const timespec pause{0, i < 100 ? 10'000 : 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
  up_.clear();
  dialing_.clear();
  failing_.clear();
  hot_ = nullptr;
  blocked_ = 0;
  for (std::unique_ptr<Peer>& peer : peers_) peer.reset();
  gate_.close();
  update_timer();
}

std::string TcpTransport::describe(int pe) const {
  const Peer* const peer = peers_[static_cast<std::size_t>(pe)].get();
  std::string way = "not connected yet";
  if (peer != nullptr && peer->state == State::up) way = connection_text(peer->fd.get());
  if (peer != nullptr && peer->state == State::ended) way = "the connection has ended";
  return way + "; bodies from " + std::to_string(kDirectBytes) + " bytes on leave uncopied, from " +
         std::to_string(kLongBytes) + " on they are read to their place; progress by poll or epoll";
}

Result<transport::TransportPtr> open_tcp(const transport::Setup& setup) {
  auto opened = std::make_unique<TcpTransport>(setup);
  SHMEMX_TRY(opened->open());
  return transport::TransportPtr(std::move(opened));
}

}  // namespace shmemx::tcp
