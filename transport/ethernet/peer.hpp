// What is kept of a PE from the first frame to it, or from it, on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transport/common/keepalive.hpp"
#include "transport/ethernet/address.hpp"
#include "transport/ethernet/inbound.hpp"
#include "transport/ethernet/loans.hpp"
#include "transport/ethernet/paths.hpp"
#include "transport/ethernet/pulls.hpp"
#include "transport/ethernet/receive_window.hpp"
#include "transport/ethernet/replay_window.hpp"
#include "transport/ethernet/send_window.hpp"

namespace shmemx::ethernet {

struct Peer {
  enum class State : std::uint8_t {
    open,
    left,  // its shutdown record is here
    lost,
  };
  struct Parts {
    FramePool& pool;
    transport::Sink& sink;
    Inbound::Owner& owner;
    PacketBudget& budget;
    bool* active;
    std::uint64_t resend_ns;
    unsigned own_interfaces;
  };
  Peer(int number, const EndpointAddress& endpoint, const Pulls::Settings& pulling, const Parts& parts)
      : pe(number),
        address(endpoint),
        paths(parts.own_interfaces, endpoint.interfaces),
        round_trip(parts.resend_ns),
        out(parts.pool, pulling.packet_bytes),
        in(parts.pool),
        inbound(parts.sink, parts.owner, {number, kMostUnderWay, parts.active}),
        pulls(pulling, parts.budget) {}

  // Returns true if it has to give signs of life. That holds even if nothing is due from it: a PE that waits for a
  // third one may depend on it.
  bool is_watched() const noexcept { return state == State::open; }

  int pe;
  State state = State::open;
  EndpointAddress address;
  Paths paths;
  RoundTrip round_trip;
  SendWindow out;
  ReceiveWindow in;
  ReplayWindow seen;
  std::uint64_t serial = 0;  // of the last frame to the peer
  Inbound inbound;
  Loans loans;
  Pulls pulls;
  transport::Keepalive::Peer keepalive;
  std::string cause;  // of the loss

  std::uint64_t requested_handle = 0;   // the newest payload of which the peer has requested packets
  std::uint32_t requested_packets = 0;  // the most of it in one request
  std::uint64_t pushed_handle = 0;      // its first packets follow its announcement, which leaves soon; 0: none
  std::uint32_t pushed_packets = 0;
  bool is_gathered = false;                // listed among those for flush()
  bool is_ack_listed = false;              // listed among those with something to acknowledge
  bool is_ack_awaited = false;             // the peer waits for the acknowledgement
  bool is_source = false;                  // it has sent records
  bool is_blocked = false;                 // listed among those for which the port's queue was full
  bool is_ping_due = false;                // the port's queue was full
  bool is_shutdown_due = false;            // there was no room for the shutdown record
  unsigned unacknowledged = 0;             // frames that no frame to the peer has acknowledged
  std::uint64_t ack_due_ns = 0;            // when they have to be
  std::vector<std::uint64_t> ended_pulls;  // handles that the peer has to be told
  // Not sent yet, since the port's queue was full: a request to the peer, and what the peer has requested.
  std::optional<Pulls::Request> unsent_request;
  struct UnsentBlock {
    Path path;
    Pulls::Request request;
  };
  std::vector<UnsentBlock> unsent_blocks;

 private:
  static constexpr std::size_t kMostUnderWay = 8;  // payloads that are pulled at once
};

}  // namespace shmemx::ethernet
