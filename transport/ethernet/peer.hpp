// What is kept of a PE from the first frame to it, or from it, on.
//
// | State | begins with         | taken from it           | sent to it              | leads to                 |
// |-------|---------------------|-------------------------|-------------------------|--------------------------|
// | open  | the first contact   | all                     | all                     | left; lost (also by      |
// |       |                     |                         |                         | silence, a `gone` frame) |
// | left  | its shutdown record | all but further records | what ends its own pulls | lost                     |
// | lost  | give_up(), as after | nothing                 | nothing                 |                          |
// |       | wrong records       |                         |                         |                          |
#pragma once

#include "transport/common/keepalive.hpp"
#include "transport/ethernet/endpoint.hpp"
#include "transport/ethernet/inbound.hpp"
#include "transport/ethernet/loans.hpp"
#include "transport/ethernet/paths.hpp"
#include "transport/ethernet/pulls.hpp"
#include "transport/ethernet/receive_window.hpp"
#include "transport/ethernet/send_window.hpp"
#include "transport/ethernet/unsent.hpp"

namespace shmemx::ethernet {

struct Peer {
  enum class State : std::uint8_t { open, left, lost };
  // Lists of peers (PeerList) of which it may be a member, one bit each.
  enum class List : std::uint8_t {
    gathered = 1,        // records for it wait for flush()
    unacknowledged = 2,  // something of it is not acknowledged
    blocked = 4,         // the queue of a port was full
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
  Peer(int number, const EndpointAddress& address, const Pulls::Settings& pulling, const Parts& parts)
      : pe(number),
        endpoint(address),
        paths(parts.own_interfaces, address.interfaces, parts.resend_ns),
        out(parts.pool, pulling.packet_bytes),
        in(parts.pool),
        inbound(parts.sink, parts.owner, {number, kMostUnderWay, parts.active}),
        pulls(pulling, parts.budget) {}

  // Returns true if it has to give signs of life. That holds even if nothing is due from it: a PE that waits for a
  // third one may depend on it.
  bool is_watched() const noexcept { return state == State::open; }
  // It takes nothing any more, and this PE needs nothing of it.
  void give_up() noexcept {
    state = State::lost;
    inbound.queue().stop();
    out.clear();
    in.clear();
    loans.end_all();
    pulls.clear();
    unsent.drop_pulls();
  }

  int pe;
  State state = State::open;
  std::uint8_t lists = 0;
  Endpoint endpoint;
  Paths paths;
  transport::Keepalive::Peer keepalive;
  SendWindow out;
  ReceiveWindow in;
  Inbound inbound;
  Loans loans;
  Pulls pulls;
  Unsent unsent;

 private:
  static constexpr std::size_t kMostUnderWay = 8;  // payloads that are pulled at once
};

}  // namespace shmemx::ethernet
