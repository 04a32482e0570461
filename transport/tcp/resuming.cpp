// Connections that break in mid-job: another one follows, on the same path or on another one, and the streams of both
// sides continue where the other side has stopped to receive.
//
// What has been sent is kept until the kernel of the other side has acknowledged it, since a PE reads all that its
// kernel has, also from a connection that has broken. So no acknowledgements travel, and no more is kept than the
// kernel itself keeps. Before a PE answers on the next connection, it lets the kernel drop what still arrives on the
// last one, reads that to its end, and closes it. The first frame of the next connection then says how many bytes of
// the other side's stream have been received so far, and what lies behind them is sent once more. Thus each byte is
// taken once, in order, and a message that was cut in two is completed.
//
// A PE that has answered several connections of the other side takes one, and drops the others with what their senders
// may have sent already. Acknowledgements count only after the resume frame of the other side, which whoever accepts
// sends on the first connection of a pair, too; nothing waits for that one.
//
// A side that has had no acknowledgement for a moment does not wait for the kernel to give up: it connects on another
// path, and the two sides move to the new connection. If the old one recovers first, it stays.
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/clock.hpp"
#include "transport/tcp/socket.hpp"
#include "transport/tcp/tcp_transport.hpp"

namespace shmemx::tcp {

// Drops what the other kernel has acknowledged. The kernel's count includes the handshake and headers of records, so it
// is an upper bound. A record of which a part is acknowledged is kept whole.
void TcpTransport::drop_acknowledged(Peer& peer) noexcept {
  if (peer.unconfirmed) [[unlikely]]
    return;
  auto unacknowledged = static_cast<std::uint64_t>(unacknowledged_bytes(peer.fd.get()));
  if (peer.sealing && unacknowledged != 0) [[unlikely]]
    unacknowledged += Sealing::kRecordBytes;
  const std::uint64_t sent = peer.out.sent();
  peer.out.acknowledge(sent > unacknowledged ? sent - unacknowledged : 0);
}

// Finds payloads that are not in use any more.
void TcpTransport::release_lent() noexcept {
  std::erase_if(lending_, [this](Peer* peer) {
    if (is_open(*peer) && !peer->measured) drop_acknowledged(*peer);
    peer->lending = peer->out.lends();
    return !peer->lending;
  });
  std::erase_if(splits_, [](const std::unique_ptr<Split>& split) {
    if (!split->first.done || !split->second.done) return false;
    split->whole->done = true;
    return true;
  });
}

// A connection has broken, and everything that has arrived on it has been read.
void TcpTransport::interrupted(Peer& peer, bool was_closed, const std::string& cause) noexcept {
  const std::string text = cause;  // the argument may be a member of the peer
  if (was_closed) {
    peer.silent_since = 0;
  } else if (peer.silent_since == 0) {
    peer.silent_since = now_ns() - unheard_ns(peer.fd.get());
  }
  const bool has_left = peer.state == State::leaving;
  retire(peer);
  if (peer.is_replaced) return;
  if (closing_ && peer.out.is_acknowledged()) return lose(peer, {});
  if (has_left) return suspended(peer, true);
  peer.was_closed = was_closed;
  peer.failure = text;
  reopen(peer);
}

// Closes the connection. Its peer is to have another one.
void TcpTransport::retire(Peer& peer) noexcept {
  drop_acknowledged(peer);
  if (peer.in.is_waiting()) keep_unread(peer);
  if (peer.is_moving) stop_dial(peer);
  if (peer.dial) peer.dial->note_end();
  if (peer.blocked) --blocked_;
  peer.blocked = true;
  peer.broken = peer.unconfirmed = false;
  peer.state = State::connecting;
  close_watched(epoll_.get(), peer.fd);
  some_ended_ = true;
}

// Ends a connection that another one follows. Returns false if that one is not needed, either.
bool TcpTransport::replace(Peer& peer) noexcept {
  peer.is_replaced = true;
  stop_receiving(peer.fd.get());
  // Packets that the kernel has put off while this PE was reading are there after the next read.
  for (int reads = 0; reads < 2; ++reads) {
    while (is_open(peer) && receive(peer)) {
    }
    if (is_open(peer) && peer.in.is_waiting()) keep_unread(peer);
  }
  if (is_open(peer)) retire(peer);
  peer.is_replaced = false;
  return peer.state != State::ended;
}

// Tells the other side that this PE has taken the connection, and where its stream goes on.
void TcpTransport::confirm(Peer& peer) noexcept {
  if (peer.is_resuming()) {
    peer.blocked = true;
    ++blocked_;
  }
  ++writes_;
  const FrameHeader frame{0, FrameKind::resume, 0, std::bit_cast<Header>(peer.received)};
  const Bytes bytes = std::as_bytes(std::span(&frame, 1));
  const bool is_sent = peer.sealing ? peer.sealing->send(peer.fd.get(), bytes)
                                    : ::send(peer.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                                          static_cast<ssize_t>(bytes.size());
  if (!is_sent) write_failed(peer, errno);
}

// Reads the other side's resume frame. After a former connection sends once more what the other side does not have.
bool TcpTransport::read_resume(Peer& peer) noexcept {
  const iovec rest{peer.resume_frame + peer.resume_bytes, sizeof peer.resume_frame - peer.resume_bytes};
  const ssize_t got = read(peer, &rest, 1);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got <= 0) {
    ended(peer, got == 0 ? 0 : errno);
    return true;
  }
  peer.resume_bytes += static_cast<std::size_t>(got);
  if (peer.resume_bytes < sizeof peer.resume_frame) return true;
  take_resume(peer);
  return true;
}

void TcpTransport::take_resume(Peer& peer) noexcept {
  FrameHeader frame;
  std::memcpy(&frame, peer.resume_frame, sizeof frame);
  const auto offset = std::bit_cast<std::uint64_t>(frame.fixed);
  const bool resumes = peer.is_resuming();
  if (frame.kind != FrameKind::resume || frame.message_bytes != 0 || frame.reserved != 0)
    return lose(peer, "it sent another frame than the one that begins a connection");
  if (resumes ? !peer.out.rewind(offset) : offset != 0)
    return lose(peer, "it continues at byte " + std::to_string(offset) + ", where bytes " +
                          std::to_string(peer.out.kept_from()) + " to " + std::to_string(peer.out.sent()) +
                          " are kept");
  peer.unconfirmed = false;
  if (!resumes || peer.broken) return;
  peer.blocked = false;
  --blocked_;
  write(peer);
}

// ---- links that are down ----

// Finds connections on which nothing is acknowledged any more.
void TcpTransport::check_links() noexcept {
  const std::uint64_t writes = writes_;
  bool is_acknowledged = true;
  const std::vector<Peer*> up = up_;
  for (Peer* const peer : up) {
    if (!is_open(*peer) || peer->broken) continue;
    check_link(*peer);
    is_acknowledged = is_acknowledged && unacknowledged_bytes(peer->fd.get()) == 0;
  }
  if (is_acknowledged) acknowledged_writes_ = writes;
}

// While the PE is silent, other paths are tried. What becomes of that is decided in give_up() alone.
void TcpTransport::check_link(Peer& peer) noexcept {
  const bool is_stuck = is_silent(peer.fd.get(), setup_.timeout_ms);
  if (is_stuck && peer.is_moving) stop_dial(peer);
  if (peer.is_moving || peer.is_given_up || is_stuck == (peer.dial != nullptr)) return;
  if (!is_stuck) {
    peer.silent_since = 0;
    stop_dial(peer);
  } else if (!acceptor_.knows(peer.pe)) {
    peer.was_closed = false;
    peer.silent_since = now_ns() - unheard_ns(peer.fd.get());
    peer.failure.clear();
    start_dial(peer);
  }
}

// The time in which nothing has come from the PE counts. All paths are tried once in any case.
Dial::Resumed TcpTransport::resumed(const Peer& peer) const {
  constexpr std::uint64_t kLeast = 2'000 * kMillisecond;
  const std::uint64_t now = now_ns();
  const std::uint64_t timeout = setup_.timeout_ms * kMillisecond;
  const std::uint64_t since = peer.silent_since != 0 ? peer.silent_since : now;
  return {.connections = peer.connections,
          .deadline = std::max(since + timeout, now + std::min(timeout / 2, kLeast)),
          .path = peer.path,
          .has_ended = !is_open(peer),
          .has_other = is_rail(peer.pe),
          .is_closing = closing_};
}

// ---- for tests ----

bool TcpTransport::reset(int pe) noexcept {
  Peer* const peer = peers_.find(pe);
  if (peer == nullptr || !is_open(*peer)) return false;
  if (!replace(*peer)) return false;
  peer->was_closed = true;
  reopen(*peer);
  return true;
}

}  // namespace shmemx::tcp
