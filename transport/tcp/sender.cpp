#include "transport/tcp/sender.hpp"

#include <errno.h>

#include <algorithm>

#include "transport/tcp/poller.hpp"
#include "transport/tcp/rails.hpp"
#include "transport/tcp/resume.hpp"

namespace shmemx::tcp {

namespace {

constexpr std::size_t kGatherBytes = std::size_t{64} << 10;     // gathered bytes that leave without flush()
constexpr std::size_t kGatherLongBytes = std::size_t{1} << 20;  // the same with long payloads, which are not copied
constexpr std::size_t kQueueBytes = std::size_t{256} << 10;     // copied for one peer, beyond which send() refuses
constexpr std::size_t kMaxSegments = 1024;

}  // namespace

Sent Sender::send(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
                  Urgency urgency) noexcept {
  parts_.peers.note_use(peer);
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

void Sender::gather(Peer& peer) noexcept {
  if (!peer.is_gathered) gathered_.push_back(&peer);
  peer.is_gathered = true;
}

Sent Sender::send_large(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
                        Urgency urgency) noexcept {
  // What has been gathered leaves with the payload, by one system call: while that runs the peer receives.
  const bool gathers = outgoing != nullptr && !parts_.rails.may_split();
  const bool has_room = gathers && peer.out.segments() < kMaxSegments;
  if (!has_room && !write(peer)) {
    if (peer.out.segments() >= kMaxSegments) return Sent::no;
    if (outgoing == nullptr && !peer.out.empty() && peer.out.copied() + payload.size() > kQueueBytes) return Sent::no;
  }
  if (outgoing == nullptr) {
    Outgoing until_copied;
    peer.out.append_lasting(fixed, header, payload, until_copied);
    if (write(peer)) peer.drop_acknowledged();
    peer.out.keep_payload(until_copied);
    return Sent::yes;
  }
  if (parts_.rails.may_split() && parts_.rails.send_split(peer, fixed, header, payload, *outgoing)) return Sent::later;
  peer.out.append_lasting(fixed, header, payload, *outgoing);
  if (gathers && urgency == Urgency::gather && peer.out.unsent() < kGatherLongBytes) {
    gather(peer);
    lend(peer);
    return Sent::later;
  }
  if (write(peer)) peer.drop_acknowledged();  // near hosts have acknowledged most of it, and the rest is copied
  if (std::exchange(outgoing->done, false)) return Sent::yes;  // it is done for Sent::later only
  lend(peer);
  return Sent::later;
}

bool Sender::write(Peer& peer) noexcept {
  if (!peer.may_write()) return false;
  if (peer.out.empty()) return true;
  ++writes_;
  const Outbox::Written written = peer.write();
  const int error = errno;
  if (peer.out.has_filled_chunk()) peer.drop_acknowledged();
  if (written == Outbox::Written::all) return true;
  if (written == Outbox::Written::some) {
    parts_.poller.block(peer);
  } else {
    fail(peer, error);
  }
  return false;
}

void Sender::write_more(Peer& peer) noexcept {
  ++writes_;
  const Outbox::Written written = peer.write();
  if (written == Outbox::Written::some) return;
  const int error = errno;
  parts_.poller.unblock(peer);
  parts_.poller.expect_input(peer);
  if (written == Outbox::Written::failed) fail(peer, error);
}

// Ends writing to the socket. What the peer has sent before, perhaps its shutdown frame, is still read: poll() finds
// the end.
void Sender::fail(Peer& peer, int error) noexcept {
  parts_.poller.unblock(peer);
  peer.fail();
  peer.ending.was_closed = error == EPIPE || error == ECONNRESET;
  peer.ending.cause = parts_.resume.cause_of(error);
  parts_.peers.note_failing(peer);
}

void Sender::send_resume(Peer& peer) noexcept {
  ++writes_;
  if (!peer.send_resume()) fail(peer, errno);
}

void Sender::flush() noexcept {
  for (Peer* const peer : gathered_) {
    peer->is_gathered = false;
    write(*peer);
  }
  gathered_.clear();
}

void Sender::lend(Peer& peer) noexcept {
  if (!std::exchange(peer.is_lending, true)) lending_.push_back(&peer);
}

void Sender::release_lent() noexcept {
  std::erase_if(lending_, [this](Peer* peer) {
    if (peer->is_open() && !peer->is_measured) peer->drop_acknowledged();
    peer->is_lending = peer->out.lends();
    return !peer->is_lending;
  });
  parts_.rails.release_splits();
}

void Sender::clear() noexcept {
  gathered_.clear();
  lending_.clear();
}

}  // namespace shmemx::tcp
