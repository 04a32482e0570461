// Completes frames and gives them to the paths' ports: header, what they acknowledge, proof. Sends the frames that have
// no content, and lists the peers that wait: for an acknowledgement, or for room in the queue of a port.
#pragma once

#include "transport/ethernet/frame_proof.hpp"
#include "transport/ethernet/path_keeper.hpp"
#include "transport/ethernet/peer_list.hpp"

namespace shmemx::ethernet {

class FrameWriter {
 public:
  FrameWriter(const transport::Setup& setup, const Settings& settings, PathKeeper& paths, PollClock& clock);

  const FrameProof& proof() const noexcept { return proof_; }
  // FrameHeader::window of all frames from now on.
  void set_window(std::uint32_t frames) noexcept { window_ = frames; }

  // Completes `header` and puts it into the memory of a frame, with the Ethernet header. Returns both.
  Bytes finish(Peer& peer, Path path, std::byte* memory, FrameHeader& header,
               const FrameProof::Digest& content) noexcept;
  // Return false if the port's queue is full. The peer is listed then.
  bool send_control(Peer& peer, Path path, FrameKind kind, std::uint8_t flags) noexcept;
  bool send_request(Peer& peer, const Pulls::Request& request) noexcept;

  // Requests a sign of life over the current path, later if its port's queue is full.
  void send_ping(Peer& peer) noexcept;
  // Requests one over the current path, later over all.
  void send_pings(Peer& peer) noexcept;

  // Something of the peer has arrived that has to be acknowledged.
  void list_for_acks(Peer& peer) {
    if (unacknowledged_.add(peer)) peer.in.begin_ack(clock_.now_ns());
  }
  // Acknowledges what no frame has acknowledged meanwhile: all of it, or what is due.
  void send_acks(bool all) noexcept {
    if (!unacknowledged_.is_empty()) send_listed_acks(all);
  }

  // Frames to the peer wait for room in a port's queue. They would have carried an acknowledgement.
  void note_blocked(Peer& peer) noexcept;
  bool has_blocked() const noexcept { return !blocked_.is_empty(); }
  // Takes all peers from the list, then calls `resume(peer)` for each that is not lost.
  template <class Resume>
  void take_blocked(Resume resume) {
    blocked_.take_each([&](Peer& peer) {
      if (peer.state != Peer::State::lost) resume(peer);
    });
  }
  // Nobody waits any more.
  void clear() {
    unacknowledged_.clear();
    blocked_.clear();
  }

 private:
  void send_listed_acks(bool all) noexcept;
  bool give(Peer& peer, Path path, const OutgoingFrame& frame) noexcept;

  std::uint32_t me_;
  const EndpointAddress& own_;
  PathKeeper& paths_;
  PollClock& clock_;
  FrameProof proof_;
  std::uint32_t window_ = SendWindow::kFirstInFlight;
  PeerList<Peer::List::unacknowledged> unacknowledged_;
  PeerList<Peer::List::blocked> blocked_;
};

}  // namespace shmemx::ethernet
