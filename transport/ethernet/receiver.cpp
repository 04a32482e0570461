#include "transport/ethernet/receiver.hpp"

#include <algorithm>
#include <utility>

#include "transport/common/authentication.hpp"

namespace shmemx::ethernet {

Receiver::Receiver(const Settings& settings, Peers& peers, const Parts& parts) noexcept
    : settings_(settings),
      peers_(peers),
      paths_(parts.paths),
      writer_(parts.writer),
      sender_(parts.sender),
      clock_(parts.clock),
      counts_(parts.counts) {
  peers.set_owner(*this);
}

// The frame is newer than all that the peer has sent before, so the peer is there.
inline void Receiver::note_newest(Peer& peer, Path path, const FrameHeader& header) noexcept {
  peer.keepalive.heard();
  peer.out.set_peer_window(header.window);
  if (path != peer.paths.current()) [[unlikely]]
    paths_.note_other_path(peer, path, header);
  peer.paths.note_heard(path, clock_.now_ns());
}

void Receiver::take(Bytes bytes, std::uint8_t interface) noexcept {
  Frame frame;
  if (!read_frame(bytes, frame)) {
    ++counts_.truncated;
    return;
  }
  Peer* const found = authenticate(frame);
  if (found == nullptr) return;
  Peer& peer = *found;
  ++counts_.received;
  const Path path{interface, static_cast<std::uint8_t>(frame.header.interface)};
  const ReplayWindow::Verdict verdict = peer.endpoint.admit(frame.header);
  if (verdict == ReplayWindow::Verdict::repeated) {
    ++counts_.duplicates;
    return;
  }
  // What a later frame has told holds on.
  const bool is_newest = verdict == ReplayWindow::Verdict::newest;
  if (is_newest) note_newest(peer, path, frame.header);
  if (peer.state == State::lost) return;
  // First what the program waits for, and what answers it.
  if (frame.header.kind == FrameKind::records) take_records(peer, frame);
  if (frame.header.kind == FrameKind::pull) take_request(peer, path, frame);
  clock_.look();
  if (peer.state == State::lost) return;
  if (is_newest) take_acknowledgement(peer, frame.header);
  switch (frame.header.kind) {
    case FrameKind::records:
      return writer_.list_for_acks(peer);
    case FrameKind::pull:
      return;
    case FrameKind::ack:
      if ((frame.header.flags & kAckNow) == 0) return;
      peer.in.await_ack();
      return writer_.list_for_acks(peer);
    case FrameKind::block:
      return take_packet(peer, frame);
    case FrameKind::gone:
      if (peer.state == State::open) peers_.lose(peer, "its endpoint has ended without a shutdown record");
  }
}

// Returns the sender of a frame, or null if the frame does not prove it, and counts why. Nothing is kept of such a
// sender.
Peer* Receiver::authenticate(Frame& frame) noexcept {
  FrameHeader& header = frame.header;
  const auto drop = [](std::uint64_t& cause) -> Peer* {
    ++cause;
    return nullptr;
  };
  if (header.port != settings_.own.port || header.source >= peers_.n_pes() || peers_.addresses() == nullptr)
    return drop(counts_.foreign);
  if (frame.content.size() > content_bytes_of(settings_.own.mtu)) return drop(counts_.truncated);
  const std::uint64_t proof = std::exchange(header.proof, 0);
  if (!transport::is_same_proof(proof, writer_.proof().prove(header, writer_.proof().digest(frame.content))))
    return drop(counts_.forged);
  const auto source = static_cast<int>(header.source);
  Peer& peer = peers_.contact(source);
  if (header.life != peer.endpoint.address().life) return drop(counts_.stale);
  return header.interface < peer.endpoint.address().interfaces ? &peer : drop(counts_.truncated);
}

// Half of the ring is for records, the other half for packets that are pulled. All who send share it equally, so that
// it never overflows.
void Receiver::add_source() noexcept {
  ++n_sources_;
  writer_.set_window(std::clamp(settings_.ring_frames / 2 / n_sources_, 1U, std::uint32_t{SendWindow::kMostInFlight}));
}

void Receiver::take_acknowledgement(Peer& peer, const FrameHeader& header) noexcept {
  if (!peer.out.is_in_flight() && !peer.out.has_unsent()) return;
  const bool frees =
      peer.out.acknowledge(header.expected, header.received, clock_.now_ns(), peer.paths.round_trip()) != 0;
  if (frees) peers_.note_progress();
  if (frees && peer.unsent.has_notes()) sender_.append_notes(peer);
  if (peer.out.has_unsent()) sender_.transmit(peer);
}

void Receiver::take_records(Peer& peer, const Frame& frame) noexcept {
  const std::uint64_t number = frame.header.number;
  const transport::Turn turn = peer.in.turn_of(number);
  if (turn == transport::Turn::next && peer.inbound.queue().is_full()) return;  // its sender sends it again
  // The sender has to learn at once that a frame is missing, or that its acknowledgement was.
  if (peer.in.note_arrival(turn != transport::Turn::next || (frame.header.flags & kAckNow) != 0)) add_source();
  if (turn == transport::Turn::duplicate) ++counts_.duplicates;
  if (turn == transport::Turn::early) peer.in.hold(number, frame.content);
  if (turn != transport::Turn::next) return;
  peer.in.take_next();
  if (!take_next(peer, frame.content)) return;
  while (true) {
    const Bytes held = peer.in.pop();
    if (held.empty()) break;
    const bool goes_on = take_next(peer, held);
    peer.in.release(held);
    if (!goes_on) return;
  }
}

// Takes the records of the frame whose turn it is. Returns false if the peer is lost.
bool Receiver::take_next(Peer& peer, Bytes records) noexcept {
  peers_.note_progress();
  if (const char* fault = peer.inbound.take(records)) peers_.lose(peer, std::string("it sent ") + fault);
  if (peer.state == State::open && peer.inbound.has_shut_down()) leave(peer);
  if (!peer.pulls.is_empty()) {
    clock_.look();
    sender_.send_requests(peer, false);
  }
  return peer.state != State::lost;
}

// The peer has called close(): it takes nothing any more, but what it has announced may still be pulled.
void Receiver::leave(Peer& peer) noexcept {
  peer.state = State::left;
  peer.in.await_ack();
  peer.out.clear();
  peer.loans.end_all();
}

// Sends what the peer has requested.
void Receiver::take_request(Peer& peer, Path path, const Frame& frame) noexcept {
  const PullRequest what = pull_request_of(frame);
  peer.loans.note_requested(frame.header.number, what);
  sender_.send_block(peer, path, frame.header.number, what);
}

void Receiver::take_packet(Peer& peer, const Frame& frame) noexcept {
  transport::InboundMessage* done = nullptr;
  const Pulls::Taken taken =
      peer.pulls.take(frame.header, frame.content, clock_.now_ns(), peer.paths.round_trip(), done);
  if (taken == Pulls::Taken::no) {
    ++counts_.duplicates;
    return;
  }
  peers_.note_progress();
  if (taken == Pulls::Taken::last) {
    peer.unsent.ended_pulls.push_back(frame.header.number);
    sender_.append_notes(peer);
    peer.inbound.queue().complete(*done);
  }
  if (!peer.pulls.is_empty()) sender_.send_requests(peer, false);
}

// ---- what the queues of messages need ----

bool Receiver::fetch(transport::InboundMessage& message) noexcept {
  Peer& peer = *peers_.find(message.queue->source());
  const std::uint32_t pushed = peer.inbound.pushed_of(message.fetch_key[0]);
  if (pushed != 0) clock_.look();
  peer.pulls.begin(message.fetch_key[0], message, pushed, clock_.now_ns());
  return false;
}

void Receiver::out_of_memory(int source, std::size_t bytes) noexcept {
  peers_.lose(*peers_.find(source), "no memory for a message of " + std::to_string(bytes) + " bytes from it");
}

void Receiver::ended_loan(int source, std::uint64_t handle) noexcept { peers_.find(source)->loans.end(handle); }

}  // namespace shmemx::ethernet
