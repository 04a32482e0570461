// Receiving, the ends of connections, and polling.
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.hpp"
#include "transport/tcp/socket.hpp"
#include "transport/tcp/tcp_transport.hpp"

namespace shmemx::tcp {

namespace {

constexpr std::size_t kFewConnections = 2;  // are read one by one, without epoll
constexpr unsigned kReadsBeforeUnwatch = 64;
constexpr int kReadsAtOnce = 8;  // from one peer, before other peers
// A pause in the middle of a payload: as long as a near sender takes for two of the packets that the kernel cuts, of
// 64 KiB each. With less than kMissingForPause it could delay the end.
constexpr std::uint64_t kPauseNs = 18'000;
constexpr std::size_t kMissingForPause = std::size_t{192} << 10;
// Intervals of the timer: for overdue connections; for payloads in use while all threads sleep; for links that are
// down.
constexpr long kTimerNs = 25'000'000;
constexpr long kLendingNs = 1'000'000;
constexpr long kLinksNs = 50'000'000;
constexpr std::uint32_t kIdleLooks = 8;  // in the time-out
// Polls to one call of epoll_wait: while connections are being made, with several connections, with few.
constexpr unsigned kTurnsBusy = 1;
constexpr unsigned kTurnsSeveral = 2;
constexpr unsigned kTurnsFew = 64;
constexpr unsigned kTurnsOfOthers = 4;  // polls for an expected PE to one read of the other

}  // namespace

bool TcpTransport::poll(int expected) noexcept {
  ++turn_;
  bool progress = receive_directly(expected);
  if (watching_ && reads_ >= kReadsBeforeUnwatch) unwatch_all();
  unsigned turns = up_.size() > kFewConnections ? kTurnsSeveral : kTurnsFew;
  if (up_.empty() || blocked_ != 0 || !dialing_.empty() || acceptor_.has_deadlines()) turns = kTurnsBusy;
  if (turn_ % turns == 0) progress |= handle_events();
  if (some_unread_) [[unlikely]]
    progress |= read_unread();
  if (!measured_.empty()) measure_all();
  if (!lending_.empty()) release_lent();
  if (!failing_.empty()) progress |= handle_failing();
  if (some_ended_) sweep();
  if (has_room_) use_room();
  return progress;
}

// Reads from the peers that are likely to have sent something.
bool TcpTransport::receive_directly(int expected) noexcept {
  Peer* wanted = nullptr;
  if (expected >= 0 && expected < setup_.n_pes) wanted = peers_.find(expected);
  if (wanted != nullptr && !is_open(*wanted)) wanted = nullptr;
  if (up_.size() > kFewConnections) {
    if (wanted == nullptr) wanted = hot_;
    return wanted != nullptr && is_open(*wanted) && receive(*wanted);
  }
  bool progress = wanted != nullptr && receive(*wanted);
  if (wanted != nullptr && turn_ % kTurnsOfOthers != 0) return progress;
  for (Peer* const peer : up_) {
    if (peer != wanted && is_open(*peer)) progress |= receive(*peer);
  }
  return progress;
}

ssize_t TcpTransport::read(Peer& peer, const iovec* areas, int n) noexcept {
  if (peer.sealing) [[unlikely]]
    return peer.sealing->read(peer.fd.get(), areas, n);
  return n == 1 ? ::recv(peer.fd.get(), areas[0].iov_base, areas[0].iov_len, 0) : ::readv(peer.fd.get(), areas, n);
}

// If the socket is empty in the middle of a long payload, the receiver is faster than the sender. What arrives while
// nobody reads is processed by the core that it arrives on, between hosts of one machine the sender's; what arrives
// during a read by the reader. Few long reads instead of many short ones leave that work to the faster side.
bool TcpTransport::is_paused(Peer& peer) noexcept {
  if (peer.paused_until == 0 || peer.broken || peer.is_replaced) return false;
  if (now_ns() < peer.paused_until) return true;
  peer.paused_until = 0;
  return false;
}

// A read has brought nothing. Returns true if the connection has ended.
bool TcpTransport::has_ended(Peer& peer, ssize_t got) noexcept {
  if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    ended(peer, got == 0 ? 0 : errno);
    return true;
  }
  if (std::exchange(peer.was_read, false) && peer.in.missing_payload() > kMissingForPause)
    peer.paused_until = now_ns() + kPauseNs;
  return false;
}

bool TcpTransport::receive(Peer& peer) noexcept {
  if (peer.unconfirmed) [[unlikely]] {
    const bool is_read = read_resume(peer);
    if (peer.unconfirmed || !is_open(peer) || !has_unread(peer)) return is_read;
  }
  if (closing_ && peer.state != State::leaving) [[unlikely]]
    return drain(peer);
  if (is_paused(peer)) return false;
  bool progress = false;
  for (int i = 0; (i < kReadsAtOnce || has_unread(peer)) && !peer.in.is_waiting(); ++i) {
    iovec areas[2];
    const int n = peer.in.areas(areas);
    if (n == 0) {
      lose(peer, "no memory to receive from it");
      return true;
    }
    const ssize_t got = read(peer, areas, n);
    if (got <= 0) return has_ended(peer, got) || progress;
    progress = peer.was_read = true;
    ++reads_;
    peer.received += static_cast<std::size_t>(got);
    hot_ = &peer;
    peer.used = turn_;
    const bool is_valid = peer.in.advance(static_cast<std::size_t>(got));
    if (!is_valid) {
      lose(peer, std::string("it sent ") + peer.in.what_is_broken());
      return true;
    }
    if (peer.in.suspends() == peer.connections) [[unlikely]] {
      heed_suspend(peer);
      if (!is_open(peer)) return true;
    }
    if (peer.in.is_waiting() || peer.in.lacks_part()) [[unlikely]] {
      match_parts(peer);
      if (!is_open(peer)) return true;
    }
    const std::size_t asked = areas[0].iov_len + (n == 1 ? 0 : areas[1].iov_len);
    if (static_cast<std::size_t>(got) < asked) return true;
  }
  return progress;
}

// Reads and drops what arrives while this PE is closing.
bool TcpTransport::drain(Peer& peer) noexcept {
  std::array<std::byte, 4096> rest;
  const iovec area{rest.data(), rest.size()};
  ssize_t got = 0;
  do {
    got = read(peer, &area, 1);
    if (got > 0) peer.received += static_cast<std::size_t>(got);
  } while (got > 0 && has_unread(peer));
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) ended(peer, 0);
  return got > 0;
}

void TcpTransport::ended(Peer& peer, int error) noexcept {
  if (peer.in.has_shut_down()) {
    lose(peer, {});
  } else if (error == EBADMSG) {
    lose(peer, "what arrives from it does not carry its keyed hash (SHMEMX_NET_MAC): somebody alters the connection");
  } else if (error != 0) {
    interrupted(peer, error == ECONNRESET || error == EPIPE, cause_of(error));
  } else if (peer.broken) {
    interrupted(peer, peer.was_closed, peer.failure);
  } else {
    interrupted(peer, true,
                peer.in.between_frames() ? "it has closed the connection without a shutdown message"
                                         : "it has closed the connection in the middle of a message");
  }
}

// Ends the connection. An empty cause: the peer has shut down in order.
void TcpTransport::lose(Peer& peer, const std::string& cause) noexcept {
  const std::string text = cause;  // the argument may be a member of the peer
  if (is_open(peer) && peer.blocked) --blocked_;
  peer.state = State::ended;
  peer.blocked = true;
  close_watched(epoll_.get(), peer.fd);
  peer.out.drop();
  stop_dial(peer);
  acceptor_.forget(peer.pe);
  some_ended_ = true;
  if (is_rail(peer.pe)) {
    Peer* const first = first_rail(peer.pe);
    if (!text.empty() && peer.connections != 0 && first != nullptr) lose(*first, text);
    return;
  }
  if (Peer* const rail = peers_.find(peer.pe + setup_.n_pes); rail != nullptr && rail->state != State::ended)
    lose(*rail, {});
  if (!text.empty() && !closing_) setup_.sink->lost(peer.pe, text);
}

void TcpTransport::sweep() noexcept {
  some_ended_ = false;
  std::erase_if(up_, [](const Peer* peer) { return !is_open(*peer); });
  if (hot_ != nullptr && !is_open(*hot_)) hot_ = nullptr;
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
        acceptor_.accept_some();
        break;
      case EventKind::timer:
        handle_timer();
        break;
      case EventKind::wake:  // it only wakes sleeping threads
        break;
      case EventKind::connection:
        acceptor_.on_event(number);
        break;
      case EventKind::dial:
        if (Peer* peer = peers_.find(number); peer != nullptr && peer->dial) step_dial(*peer);
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
  Peer& peer = *peers_.find(pe);
  if (!is_open(peer)) return false;
  bool progress = false;
  if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0 && peer.blocked && !peer.broken && !peer.is_resuming()) {
    ++writes_;
    const Outbox::Written written = write_out(peer);
    if (written != Outbox::Written::some) {
      peer.blocked = false;
      --blocked_;
      rewatch(epoll_.get(), peer.fd.get(), EPOLLIN, event_tag(EventKind::peer, pe));
    }
    if (written == Outbox::Written::failed) write_failed(peer, errno);
    progress = true;
  }
  if (is_open(peer) && (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) progress |= receive(peer);
  return progress;
}

void TcpTransport::handle_timer() noexcept {
  std::uint64_t times = 0;
  if (::read(timer_.get(), &times, sizeof times) < 0) return;
  const std::vector<Peer*> dialing = dialing_;
  for (Peer* const peer : dialing) {
    if (peer->dial) step_dial(*peer);
  }
  const std::uint64_t now = now_ns();
  acceptor_.expire(now);
  if (now - checked_ns_ < static_cast<std::uint64_t>(kLinksNs / 2)) return;
  checked_ns_ = now;
  check_links();
}

// Runs the timer while a connection may become overdue, while payloads are in use, and while it is not known whether
// everything has arrived. At longer intervals for connections that are idle, whose links may be down, too.
void TcpTransport::update_timer(bool is_sleeping) noexcept {
  const long idle = std::max(long{setup_.timeout_ms} * 1'000'000 / kIdleLooks, kLinksNs);
  long wanted = up_.empty() || closing_ ? 0 : idle;
  if (writes_ != acknowledged_writes_) wanted = kLinksNs;
  if (!dialing_.empty() || acceptor_.has_deadlines()) wanted = kTimerNs;
  if (is_sleeping && !lending_.empty()) wanted = kLendingNs;
  if (wanted == timer_ns_) return;
  itimerspec time{};
  constexpr long kNsPerS = 1'000'000'000;
  time.it_interval = {wanted / kNsPerS, wanted % kNsPerS};
  time.it_value = time.it_interval;
  ::timerfd_settime(timer_.get(), 0, &time, nullptr);
  timer_ns_ = wanted;
}

bool TcpTransport::handle_failing() noexcept {
  std::vector<Peer*> failing;
  failing.swap(failing_);
  for (Peer* const peer : failing) {
    const bool is_given_up = std::exchange(peer->is_given_up, false);
    if (is_open(*peer) && peer->broken) {
      while (receive(*peer) && is_open(*peer)) {
      }
      if (is_open(*peer)) ended(*peer, 0);  // more may arrive, but nothing can be sent
    } else if (is_given_up && peer->state != State::ended && !acceptor_.holds(peer->pe)) {
      const bool has_recovered = is_open(*peer) && !is_silent(peer->fd.get(), setup_.timeout_ms);
      // What a second rail has lost is no loss of the PE: the first one tells that.
      if (!has_recovered) lose(*peer, is_rail(peer->pe) ? std::string() : peer->failure);
    }
  }
  return true;
}

void TcpTransport::watch_all() noexcept {
  reads_ = 0;
  if (watching_) return;
  watching_ = true;
  std::uint64_t times = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_fd_.get(), &times, sizeof times);
  for (const Peer* const peer : up_) {
    if (is_open(*peer)) watch(epoll_.get(), peer->fd.get(), EPOLLIN, event_tag(EventKind::peer, peer->pe));
  }
}

void TcpTransport::unwatch_all() noexcept {
  reads_ = 0;
  if (blocked_ != 0 || up_.size() > kFewConnections) return;
  watching_ = false;
  for (const Peer* const peer : up_) unwatch(epoll_.get(), peer->fd.get());
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_fd_.get(), &one, sizeof one);
}

bool TcpTransport::arm() noexcept {
  watch_all();
  flush();
  update_timer(true);
  return failing_.empty();
}

}  // namespace shmemx::tcp
