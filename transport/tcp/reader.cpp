#include "transport/tcp/reader.hpp"

#include <errno.h>

#include <array>

#include "transport/tcp/poller.hpp"
#include "transport/tcp/rails.hpp"
#include "transport/tcp/resume.hpp"
#include "transport/tcp/suspension.hpp"

namespace shmemx::tcp {

namespace {

constexpr int kReadsAtOnce = 8;         // from one peer, before other peers
constexpr unsigned kTurnsOfOthers = 4;  // polls for an expected PE to one read of the other

bool is_over(int error) noexcept { return error != EAGAIN && error != EINTR; }

}  // namespace

bool Reader::receive_likely(int expected, std::uint64_t turn) noexcept {
  Peer* wanted = nullptr;
  if (expected >= 0 && expected < parts_.setup.n_pes) wanted = parts_.peers.find(expected);
  if (wanted != nullptr && !wanted->is_open()) wanted = nullptr;
  if (!parts_.poller.has_few()) {
    if (wanted == nullptr) wanted = parts_.peers.hot();
    return wanted != nullptr && wanted->is_open() && receive(*wanted);
  }
  bool progress = wanted != nullptr && receive(*wanted);
  if (wanted != nullptr && turn % kTurnsOfOthers != 0) return progress;
  for (Peer* const peer : parts_.peers.up()) {
    if (peer != wanted && peer->is_open()) progress |= receive(*peer);
  }
  return progress;
}

// A read has brought nothing. Returns true if the socket has ended.
bool Reader::has_ended(Peer& peer, ssize_t got) noexcept {
  if (got == 0 || is_over(errno)) {
    parts_.resume.ended(peer, got == 0 ? 0 : errno);
    return true;
  }
  peer.pause.note_empty(peer.in.missing_payload());
  return false;
}

bool Reader::receive(Peer& peer) noexcept {
  if (peer.awaits_resume()) [[unlikely]] {
    const bool is_read = parts_.resume.read_resume(peer);
    if (!peer.is_open() || peer.awaits_resume() || !peer.has_unread()) return is_read;
  }
  if (parts_.peers.is_closing() && !peer.is(Peer::State::leaving)) [[unlikely]]
    return drain(peer);
  const bool is_last = peer.is(Peer::State::failed) || peer.is(Peer::State::replaced);
  if (!is_last && peer.pause.is_on()) return false;
  bool progress = false;
  for (int i = 0; (i < kReadsAtOnce || peer.has_unread()) && !peer.in.is_waiting(); ++i) {
    iovec areas[2];
    const int n = peer.in.areas(areas);
    if (n == 0) {
      parts_.resume.lose(peer, "no memory to receive from it");
      return true;
    }
    const ssize_t got = peer.read(areas, n);
    if (got <= 0) return has_ended(peer, got) || progress;
    progress = true;
    const std::size_t asked = areas[0].iov_len + (n == 1 ? 0 : areas[1].iov_len);
    if (!take(peer, static_cast<std::size_t>(got)) || static_cast<std::size_t>(got) < asked) return true;
  }
  return progress;
}

// Returns false if that ends the socket.
bool Reader::take(Peer& peer, std::size_t bytes) noexcept {
  peer.pause.note_read();
  parts_.poller.note_read();
  parts_.peers.note_received(peer);
  if (!peer.in.advance(bytes)) {
    parts_.resume.lose(peer, std::string("it sent ") + peer.in.what_is_broken());
    return false;
  }
  if (peer.is_suspended_by_other()) [[unlikely]]
    parts_.suspension.heed(peer);
  if (peer.in.is_waiting() || peer.in.lacks_part()) [[unlikely]]
    parts_.rails.match_parts(peer);
  return peer.is_open();
}

// Reads and drops what arrives while this PE is closing.
bool Reader::drain(Peer& peer) noexcept {
  std::array<std::byte, 4096> rest;
  const iovec area{rest.data(), rest.size()};
  ssize_t got = 0;
  do got = peer.read(&area, 1);
  while (got > 0 && peer.has_unread());
  if (got == 0 || (got < 0 && is_over(errno))) parts_.resume.ended(peer, 0);
  return got > 0;
}

bool Reader::read_noted() noexcept {
  some_unread_ = false;
  bool progress = false;
  const std::vector<Peer*> up = parts_.peers.up();
  for (Peer* const peer : up) {
    if (peer->is_open() && peer->has_unread()) progress |= receive(*peer);
  }
  return progress;
}

}  // namespace shmemx::tcp
