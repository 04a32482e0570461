#include "transport/ethernet/frame_writer.hpp"

#include <cstring>

namespace shmemx::ethernet {

FrameWriter::FrameWriter(const transport::Setup& setup, const Settings& settings, PathKeeper& paths, PollClock& clock)
    : me_(static_cast<std::uint32_t>(setup.me)),
      own_(settings.own),
      paths_(paths),
      clock_(clock),
      proof_(setup.secret, content_bytes_of(settings.own.mtu)) {}

Bytes FrameWriter::finish(Peer& peer, Path path, std::byte* memory, FrameHeader& header,
                          const FrameProof::Digest& content) noexcept {
  const EthernetHeader ethernet{peer.endpoint.address().macs[path.peers], own_.macs[path.own]};
  peer.endpoint.fill_in(header);
  header.source = me_;
  header.life = own_.life;
  header.expected = peer.in.expected();
  header.received = peer.in.received();
  header.interface = path.own;
  header.window = window_ & kMostWindow;
  header.proof = proof_.prove(header, content);
  std::memcpy(FrameMemory::ethernet(memory), &ethernet, sizeof ethernet);
  std::memcpy(FrameMemory::header(memory), &header, sizeof header);
  peer.in.note_acknowledged();
  return {FrameMemory::ethernet(memory), sizeof ethernet + sizeof header};
}

bool FrameWriter::send_control(Peer& peer, Path path, FrameKind kind, std::uint8_t flags) noexcept {
  alignas(16) std::byte memory[FrameMemory::kHeadBytes];
  FrameHeader header{.kind = kind, .flags = flags};
  return give(peer, path, {finish(peer, path, memory, header, {}), {}});
}

bool FrameWriter::send_request(Peer& peer, const Pulls::Request& request) noexcept {
  const Path path = request.is_second ? peer.paths.second() : peer.paths.current();
  alignas(16) std::byte memory[FrameMemory::kHeadBytes + sizeof request.what];
  std::memcpy(FrameMemory::content(memory), &request.what, sizeof request.what);
  const Bytes content(FrameMemory::content(memory), sizeof request.what);
  FrameHeader header{.kind = FrameKind::pull, .bytes = sizeof request.what, .number = request.handle};
  const Bytes head = finish(peer, path, memory, header, proof_.digest(content));
  return give(peer, path, {{head.data(), head.size() + content.size()}, {}});
}

bool FrameWriter::give(Peer& peer, Path path, const OutgoingFrame& frame) noexcept {
  if (paths_.send(path, {&frame, 1}) != 0) [[likely]]
    return true;
  note_blocked(peer);
  return false;
}

void FrameWriter::note_blocked(Peer& peer) noexcept {
  peer.in.await_ack();
  list_for_acks(peer);
  blocked_.add(peer);
}

void FrameWriter::send_ping(Peer& peer) noexcept {
  peer.unsent.is_ping_due = !send_control(peer, peer.paths.current(), FrameKind::ack, kAckNow);
}

void FrameWriter::send_pings(Peer& peer) noexcept {
  send_ping(peer);
  if (peer.keepalive.silent_rounds == transport::Keepalive::kRoundsUntilPing) return;
  for (unsigned i = 0; i < peer.paths.size(); ++i) {
    const Path path = peer.paths[i];
    if (path != peer.paths.current()) send_control(peer, path, FrameKind::ack, kAckNow);
  }
}

void FrameWriter::send_listed_acks(bool all) noexcept {
  unacknowledged_.take_if([&](Peer& peer) {
    if (peer.state == Peer::State::lost || !peer.in.is_ack_pending()) return true;
    return (all || peer.in.is_ack_due(clock_.now_ns())) && send_control(peer, peer.paths.current(), FrameKind::ack, 0);
  });
}

}  // namespace shmemx::ethernet
