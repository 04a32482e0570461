// From frames to records and packets.
#pragma once

#include "transport/ethernet/sender.hpp"

namespace shmemx::ethernet {

class Receiver final : private Inbound::Owner {
 public:
  // What it passes work on to, and shares with it.
  struct Parts {
    PathKeeper& paths;
    FrameWriter& writer;
    Sender& sender;
    PollClock& clock;
    FrameCounts& counts;
  };
  Receiver(const Settings& settings, Peers& peers, const Parts& parts) noexcept;

  // Takes what follows the Ethernet header of a frame that has arrived at an interface. Its memory is aligned to 16
  // bytes.
  void take(Bytes frame, std::uint8_t interface) noexcept;

 private:
  using State = Peer::State;

  Peer* authenticate(Frame& frame) noexcept;
  void note_newest(Peer& peer, Path path, const FrameHeader& header) noexcept;
  void add_source() noexcept;
  void take_acknowledgement(Peer& peer, const FrameHeader& header) noexcept;
  void take_records(Peer& peer, const Frame& frame) noexcept;
  bool take_next(Peer& peer, Bytes records) noexcept;
  void take_request(Peer& peer, Path path, const Frame& frame) noexcept;
  void take_packet(Peer& peer, const Frame& frame) noexcept;
  static void leave(Peer& peer) noexcept;

  bool fetch(transport::InboundMessage& message) noexcept override;
  void discard(transport::InboundMessage&) noexcept override {}
  void out_of_memory(int source, std::size_t bytes) noexcept override;
  void ended_loan(int source, std::uint64_t handle) noexcept override;

  const Settings& settings_;
  Peers& peers_;
  PathKeeper& paths_;
  FrameWriter& writer_;
  Sender& sender_;
  PollClock& clock_;
  FrameCounts& counts_;
  std::uint32_t n_sources_ = 0;  // peers that have sent records
};

}  // namespace shmemx::ethernet
