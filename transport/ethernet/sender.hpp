// From messages to records, and from records and long payloads to frames, as far as windows and ports allow it.
#pragma once

#include <array>

#include "transport/ethernet/frame_writer.hpp"
#include "transport/ethernet/peers.hpp"

namespace shmemx::ethernet {

using transport::Outgoing;
using transport::Sent;
using transport::Urgency;

class Sender {
 public:
  Sender(Peers& peers, PathKeeper& paths, FrameWriter& writer, PollClock& clock, FrameCounts& counts) noexcept
      : peers_(peers), paths_(paths), writer_(writer), clock_(clock), counts_(counts) {}

  // As in transport::Transport.
  Sent send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing, Urgency urgency) noexcept;
  void flush() noexcept;

  // Appends notes for which there was no room before, and sends the open frame.
  void append_notes(Peer& peer) noexcept;
  // Sends the records frames that are due.
  void transmit(Peer& peer) noexcept { transmit(peer, Burst{}); }
  // Sends packets of a long payload over a path.
  void send_block(Peer& peer, Path path, std::uint64_t handle, const PullRequest& what) noexcept;
  // Requests packets. `has_all`: as in Pulls.
  void send_requests(Peer& peer, bool has_all) noexcept;
  // Tries again for the peers for which the queue of a port was full.
  void retry_blocked() noexcept;

  // Nothing is gathered from now on.
  void begin_close() noexcept { gathered_.clear(); }
  // Sends once more what the peer has not acknowledged.
  void send_all(Peer& peer) noexcept { transmit(peer, {.ignores_window = true}); }

 private:
  static constexpr unsigned kFramesAtOnce = 32;
  struct Piece {
    RecordKind kind;
    std::size_t content_bytes;
    std::size_t whole_bytes = 0;
  };
  // What transmit() sends: frames of a message of which `before` have left, and whether more of it follow.
  struct Burst {
    std::size_t before = 0;
    bool goes_on = false;
    bool ignores_window = false;
  };

  Sent send_parts(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Urgency urgency) noexcept;
  Sent announce(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing) noexcept;
  static std::byte* append(Peer& peer, const Header& fixed, const Piece& piece) noexcept;
  static bool has_room(const Peer& peer, std::size_t content_bytes) noexcept;
  bool append_note(Peer& peer, RecordKind kind, Bytes content) noexcept;
  void send_now(Peer& peer) noexcept;
  std::size_t transmit(Peer& peer, Burst burst) noexcept;
  OutgoingFrame records_frame(Peer& peer, std::uint64_t number, const Burst& burst) noexcept;
  bool send_request(Peer& peer, const Pulls::Request& request) noexcept;
  void resume(Peer& peer) noexcept;

  Peers& peers_;
  PathKeeper& paths_;
  FrameWriter& writer_;
  PollClock& clock_;
  FrameCounts& counts_;
  PeerList<Peer::List::gathered> gathered_;
  std::array<OutgoingFrame, kFramesAtOnce> frames_;  // of one call of the port
};

}  // namespace shmemx::ethernet
