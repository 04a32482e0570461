#include "transport/tcp/tcp_transport.hpp"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "transport/tcp/socket.hpp"

namespace shmemx::tcp {

namespace {

constexpr std::size_t kGatherBytes = std::size_t{64} << 10;     // gathered bytes that leave without flush()
constexpr std::size_t kGatherLongBytes = std::size_t{1} << 20;  // the same with long payloads, which are not copied
constexpr std::size_t kQueueBytes = std::size_t{256} << 10;     // copied for one peer, beyond which send() refuses
constexpr std::size_t kMaxSegments = 1024;

}  // namespace

TcpTransport::TcpTransport(const transport::Setup& setup)
    : setup_(setup), acceptor_(setup_, *this), peers_(2 * static_cast<std::size_t>(setup.n_pes)) {}

Status TcpTransport::open() {
  epoll_ = NetworkFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.valid()) return system_error("create an epoll descriptor");
  timer_ = NetworkFd(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!timer_.valid()) return system_error("create a timer");
  if (!watch(epoll_.get(), timer_.get(), EPOLLIN, event_tag(EventKind::timer, 0))) return system_error("watch a timer");
  wake_fd_ = NetworkFd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake_fd_.valid()) return system_error("create an event descriptor");
  if (!watch(epoll_.get(), wake_fd_.get(), EPOLLIN, event_tag(EventKind::wake, 0)))
    return system_error("watch an event");
  share_.own.look(now_ns());
  may_split_ = has_several_links(own());
  machine_ = machine_id();
  if (setup_.tcp_mac)
    hash_ = std::make_unique<transport::NhHash>(setup_.secret, transport::Purpose::stream, Sealing::kRecordBytes);
  return acceptor_.open(epoll_.get());
}

transport::Capabilities TcpTransport::capabilities() const noexcept {
  return {.rma = false, .waits = true, .resumes = true, .short_bytes = kMaxPayloadBytes};
}

std::string TcpTransport::endpoint_address() const {
  return pack_address({machine_, acceptor_.port(), addresses_to_publish(all_local_addresses())});
}

// ---- sending ----

Sent TcpTransport::send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
                        Urgency urgency) noexcept {
  Peer* known = peers_.find(pe);
  Peer& peer = known != nullptr ? *known : contact(pe);
  if (peer.state >= State::suspended) [[unlikely]] {
    if (peer.state == State::ended) return Sent::yes;
    reopen(peer);
  }
  peer.used = turn_;
  if (payload.size() >= kLongBytes) return send_large(peer, fixed, header, payload, outgoing, urgency);
  if (peer.out.copied() >= kQueueBytes) [[unlikely]] {
    if (!write(peer)) return Sent::no;
  }
  peer.out.append(fixed, header, payload);
  if (urgency == Urgency::gather && peer.out.copied() < kGatherBytes) {
    gather(peer);
  } else {
    write(peer);
  }
  return Sent::yes;
}

void TcpTransport::gather(Peer& peer) noexcept {
  if (!peer.gathered) gathered_.push_back(&peer);
  peer.gathered = true;
}

Sent TcpTransport::send_large(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
                              Urgency urgency) noexcept {
  // What has been gathered leaves with the payload, by one system call: while that runs the peer receives.
  const bool gathers = outgoing != nullptr && !may_split_ && !any_rail_;
  const bool has_room = gathers && peer.out.segments() < kMaxSegments;
  if (!has_room && !write(peer)) {
    if (peer.out.segments() >= kMaxSegments) return Sent::no;
    if (outgoing == nullptr && !peer.out.empty() && peer.out.copied() + payload.size() > kQueueBytes) return Sent::no;
  }
  if (outgoing == nullptr) {
    Outgoing until_copied;
    peer.out.append_lasting(fixed, header, payload, until_copied);
    if (write(peer)) drop_acknowledged(peer);
    peer.out.keep_payload(until_copied);
    return Sent::yes;
  }
  if ((may_split_ || any_rail_) && send_split(peer, fixed, header, payload, *outgoing)) return Sent::later;
  peer.out.append_lasting(fixed, header, payload, *outgoing);
  if (gathers && urgency == Urgency::gather && peer.out.unsent() < kGatherLongBytes) {
    gather(peer);
    lend(peer);
    return Sent::later;
  }
  if (write(peer)) drop_acknowledged(peer);  // near hosts have acknowledged most of it, and the rest is copied
  if (std::exchange(outgoing->done, false)) return Sent::yes;  // it is done for Sent::later only
  lend(peer);
  return Sent::later;
}

// Writes what waits for the peer. Returns true if nothing waits any more.
bool TcpTransport::write(Peer& peer) noexcept {
  if (peer.blocked || peer.state == State::leaving) return false;
  if (peer.out.empty()) return true;
  ++writes_;
  const Outbox::Written written = write_out(peer);
  if (peer.out.has_filled_chunk()) drop_acknowledged(peer);
  if (written == Outbox::Written::all) return true;
  if (written == Outbox::Written::some) {
    block(peer);
  } else {
    write_failed(peer, errno);
  }
  return false;
}

Outbox::Written TcpTransport::write_out(Peer& peer) noexcept {
  if (peer.sealing) [[unlikely]]
    return peer.sealing->write(peer.out, peer.fd.get());
  return peer.out.write(peer.fd.get());
}

void TcpTransport::block(Peer& peer) noexcept {
  peer.blocked = true;
  ++blocked_;
  watch_all();
  rewatch(epoll_.get(), peer.fd.get(), EPOLLIN | EPOLLOUT, event_tag(EventKind::peer, peer.pe));
}

// Returns the cause of a loss. ETIMEDOUT comes from the times that tune() has set.
std::string TcpTransport::cause_of(int error) const {
  return error == ETIMEDOUT ? transport::silence_text(std::max(setup_.timeout_ms, setup_.silence_ms))
                            : error_text(error);
}

// Ends writing to the connection. What the peer has sent before, perhaps its shutdown frame, is still read: poll()
// finds the end.
void TcpTransport::write_failed(Peer& peer, int error) noexcept {
  peer.broken = true;
  peer.was_closed = error == EPIPE || error == ECONNRESET;
  if (!peer.blocked) ++blocked_;
  peer.blocked = true;
  peer.failure = cause_of(error);
  failing_.push_back(&peer);
}

void TcpTransport::flush() noexcept {
  for (Peer* const peer : gathered_) {
    peer->gathered = false;
    if (peer->state == State::up) write(*peer);
  }
  gathered_.clear();
}

// ---- the end ----

// Returns true if the peers have acknowledged everything. Peers without a connection yet count while something waits
// for them.
bool TcpTransport::all_gone() noexcept {
  handle_events();
  handle_failing();
  return std::all_of(peers_.list().begin(), peers_.list().end(), [](const Peer* peer) {
    if (peer->state == State::ended || peer->state == State::suspended) return true;
    if (peer->state == State::connecting) return peer->out.is_acknowledged() || (!peer->dial && !peer->failure.empty());
    return peer->out.empty() && !peer->unconfirmed && unacknowledged_bytes(peer->fd.get()) == 0;
  });
}

void TcpTransport::append_shutdown(Peer& peer) noexcept {
  if (!peer.is_shut_down) peer.out.append_control(FrameKind::shutdown);
  peer.is_shut_down = true;
}

void TcpTransport::close(std::uint32_t patience_ms) noexcept {
  closing_ = true;
  watch_all();
  gathered_.clear();
  for (Peer* const peer : up_) {
    if (peer->state == State::leaving) peer->in.drop_messages();  // its control frames are still needed
    if (peer->state != State::up) continue;
    append_shutdown(*peer);
    write(*peer);
  }
  const std::uint64_t deadline = now_ns() + std::uint64_t{patience_ms} * 1'000'000;
  // Not the library's waiting: that polls, and this runs inside a poll. An acknowledgement mostly takes one round trip.
  for (int i = 0; !all_gone() && now_ns() < deadline; ++i) {
    const timespec pause{0, i < 100 ? 10'000 : 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
  up_.clear();
  dialing_.clear();
  failing_.clear();
  lending_.clear();
  measured_.clear();
  for (const std::unique_ptr<Split>& split : splits_) split->whole->done = true;
  splits_.clear();
  hot_ = nullptr;
  blocked_ = 0;
  peers_.clear();
  acceptor_.close();
  update_timer();
}

// Says which interfaces lead to `pe`, if there are several.
std::string TcpTransport::links_of(int pe) const {
  EndpointAddress endpoint;
  if (addresses_ == nullptr || !unpack_address(addresses_->address_of(pe), endpoint)) return {};
  const std::vector<std::string> links = links_to(endpoint, own(), machine_);
  if (links.size() < 2) return {};
  std::string text = "; links";
  for (const std::string& link : links) text += (&link == &links.front() ? " " : ", ") + link;
  return text;
}

std::string TcpTransport::describe(int pe) const {
  const Peer* const peer = peers_.find(pe);
  std::string path = "not connected yet";
  if (peer != nullptr && is_open(*peer)) path = connection_text(peer->fd.get());
  if (peer != nullptr && peer->state == State::suspended) path = "not connected until the next message";
  if (peer != nullptr && peer->state == State::ended) path = "the connection has ended";
  return path + "; payloads from " + std::to_string(kLongBytes) +
         " bytes are sent and received without a copy; progress by poll or epoll" + links_of(pe) + rail_text(pe);
}

Result<transport::TransportPtr> open_tcp(const transport::Setup& setup) {
  auto opened = std::make_unique<TcpTransport>(setup);
  SHMEMX_TRY(opened->open());
  return transport::TransportPtr(std::move(opened));
}

}  // namespace shmemx::tcp
