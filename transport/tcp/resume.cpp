#include "transport/tcp/resume.hpp"

#include <errno.h>

#include <algorithm>

#include "transport/tcp/connector.hpp"
#include "transport/tcp/poller.hpp"
#include "transport/tcp/reader.hpp"
#include "transport/tcp/sender.hpp"
#include "transport/tcp/suspension.hpp"

namespace shmemx::tcp {

std::string Resume::cause_of(int error) const {
  return error == ETIMEDOUT ? transport::silence_text(std::max(parts_.setup.timeout_ms, parts_.setup.silence_ms))
                            : error_text(error);
}

void Resume::ended(Peer& peer, int error) noexcept {
  if (peer.in.has_shut_down()) {
    lose(peer, {});
  } else if (error == EBADMSG) {
    lose(peer, "what arrives from it does not carry its keyed hash (SHMEMX_NET_MAC): somebody alters the connection");
  } else if (error != 0) {
    interrupted(peer, error == ECONNRESET || error == EPIPE, cause_of(error));
  } else if (peer.is(Peer::State::failed)) {
    interrupted(peer, peer.ending.was_closed, peer.ending.cause);
  } else {
    interrupted(peer, true,
                peer.in.between_frames() ? "it has closed the connection without a shutdown message"
                                         : "it has closed the connection in the middle of a message");
  }
}

void Resume::interrupted(Peer& peer, bool was_closed, const std::string& cause) noexcept {
  const std::string text = cause;  // the argument may be a member of the peer
  if (was_closed) {
    peer.ending.silent_since = 0;
  } else if (peer.ending.silent_since == 0) {
    peer.ending.silent_since = now_ns() - unheard_ns(peer.fd());
  }
  const Peer::State state = peer.state();
  close_socket(peer);
  if (state == Peer::State::replaced) return;
  if (parts_.peers.is_closing() && peer.out.is_acknowledged()) return lose(peer, {});
  if (state == Peer::State::leaving && was_closed) return parts_.suspension.end(peer, true);
  peer.ending.was_closed = was_closed;
  peer.ending.cause = text;
  parts_.connector.reconnect(peer);
}

void Resume::close_socket(Peer& peer) noexcept {
  if (peer.dialing == Peer::Dialing::moves) parts_.connector.stop_dial(peer);
  if (peer.dial) peer.dial->note_end();
  parts_.poller.unblock(peer);
  peer.close(parts_.poller.epoll());
  parts_.peers.note_end();
}

bool Resume::replace(Peer& peer) noexcept {
  peer.replace();
  stop_receiving(peer.fd());
  // Packets that the kernel has put off while this PE was reading are there after the next read.
  for (int reads = 0; reads < 2; ++reads) {
    while (peer.is_open() && parts_.reader.receive(peer)) {
    }
    if (peer.is_open() && peer.in.is_waiting()) peer.keep_unread();
  }
  if (peer.is_open()) close_socket(peer);
  return !peer.is(Peer::State::ended);
}

void Resume::lose(Peer& peer, const std::string& cause) noexcept {
  const std::string text = cause;  // the argument may be a member of the peer
  parts_.poller.unblock(peer);
  peer.end(parts_.poller.epoll());
  parts_.connector.stop_dial(peer);
  parts_.connector.forget(peer);
  parts_.peers.note_end();
  if (parts_.peers.is_rail(peer)) {
    Peer* const first = parts_.peers.first_of(peer);
    if (!text.empty() && peer.sockets() != 0 && first != nullptr) lose(*first, text);
    return;
  }
  if (Peer* const rail = parts_.peers.rail_of(peer); rail != nullptr && !rail->is(Peer::State::ended)) lose(*rail, {});
  if (!text.empty() && !parts_.peers.is_closing()) parts_.setup.sink->lost(peer.pe, text);
}

bool Resume::read_resume(Peer& peer) noexcept {
  const ssize_t got = peer.read_resume();
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got <= 0) {
    ended(peer, got == 0 ? 0 : errno);
  } else if (!peer.awaits_resume()) {
    if (const std::string wrong = peer.take_resume(); !wrong.empty()) {
      lose(peer, wrong);
    } else if (peer.sockets() > 1) {
      parts_.sender.write(peer);
    }
  }
  return true;
}

void Resume::give_up(Peer& peer) noexcept {
  peer.dialing = Peer::Dialing::given_up;
  parts_.peers.note_failing(peer);
}

void Resume::handle_failing() noexcept {
  for (Peer* const peer : parts_.peers.take_failing()) {
    const bool is_given_up = peer->dialing == Peer::Dialing::given_up;
    if (is_given_up) peer->dialing = Peer::Dialing::no;
    if (peer->is(Peer::State::failed)) {
      while (peer->is_open() && parts_.reader.receive(*peer)) {
      }
      if (peer->is_open()) ended(*peer, 0);  // more may arrive, but nothing can be sent
    } else if (is_given_up && !peer->is(Peer::State::ended) && !parts_.connector.holds(*peer)) {
      const bool has_recovered = peer->is_open() && !is_silent(peer->fd(), parts_.setup.timeout_ms);
      // What a second rail has lost is no loss of the PE: the first one tells that.
      if (!has_recovered) lose(*peer, parts_.peers.is_rail(*peer) ? std::string() : peer->ending.cause);
    }
  }
}

// ---- links that are down ----

void Resume::check_links(std::uint64_t now) noexcept {
  if (now - checked_ns_ < static_cast<std::uint64_t>(kLinksNs / 2)) return;
  checked_ns_ = now;
  const std::uint64_t writes = parts_.sender.writes();
  bool is_acknowledged = true;
  const std::vector<Peer*> up = parts_.peers.up();
  for (Peer* const peer : up) {
    if (!peer->is_open() || peer->is(Peer::State::failed)) continue;
    check_link(*peer);
    is_acknowledged = is_acknowledged && unacknowledged_bytes(peer->fd()) == 0;
  }
  if (is_acknowledged) parts_.sender.note_acknowledged(writes);
}

// While the PE is silent, other paths are tried. What becomes of that is decided in give_up() alone.
void Resume::check_link(Peer& peer) noexcept {
  const bool is_stuck = is_silent(peer.fd(), parts_.setup.timeout_ms);
  if (is_stuck && peer.dialing == Peer::Dialing::moves) parts_.connector.stop_dial(peer);
  const bool is_busy = peer.dialing == Peer::Dialing::moves || peer.dialing == Peer::Dialing::given_up;
  if (is_busy || is_stuck == (peer.dial != nullptr)) return;
  if (!is_stuck) {
    peer.ending.silent_since = 0;
    parts_.connector.stop_dial(peer);
  } else if (!parts_.connector.knows(peer)) {
    peer.ending = {{}, false, now_ns() - unheard_ns(peer.fd())};
    parts_.connector.start_dial(peer);
  }
}

// The time in which nothing has come from the PE counts. All paths are tried once in any case.
Dial::Resumed Resume::resumed(const Peer& peer) const {
  constexpr std::uint64_t kLeast = 2'000 * kMillisecond;
  const std::uint64_t now = now_ns();
  const std::uint64_t timeout = parts_.setup.timeout_ms * kMillisecond;
  const std::uint64_t since = peer.ending.silent_since != 0 ? peer.ending.silent_since : now;
  return {.connections = peer.sockets(),
          .deadline = std::max(since + timeout, now + std::min(timeout / 2, kLeast)),
          .path = peer.path,
          .has_ended = !peer.is_open(),
          .has_other = parts_.peers.is_rail(peer),
          .is_closing = parts_.peers.is_closing()};
}

bool Resume::reset(int pe) noexcept {
  Peer* const peer = parts_.peers.find(pe);
  if (peer == nullptr || !peer->is_open() || !replace(*peer)) return false;
  peer->ending.was_closed = true;
  parts_.connector.reconnect(*peer);
  return true;
}

}  // namespace shmemx::tcp
