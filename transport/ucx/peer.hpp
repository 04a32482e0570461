// What is kept of a PE from the first message to it, or from it, on.
#pragma once

#include <ucp/api/ucp.h>

#include <string>
#include <vector>

#include "transport/common/keepalive.hpp"
#include "transport/common/sent_behind.hpp"
#include "transport/common/session.hpp"
#include "transport/ucx/inbox.hpp"
#include "transport/ucx/operations.hpp"
#include "transport/ucx/staging.hpp"
#include "transport/ucx/wire.hpp"

namespace shmemx::ucx {

class UcxTransport;
struct LongSend;

// The proofs of who a PE is, and the numbers of the pings and pongs with it.
struct Session {
  transport::OutgoingSession out;
  transport::IncomingSession in;
  transport::Challenge challenge{};  // to be sent to the PE
  std::uint64_t control_out;         // number of the last ping or pong
  std::uint64_t control_in;

  explicit Session(std::uint64_t first_number) noexcept : control_out(first_number), control_in(first_number) {}
};

// What is on the way to a PE.
struct Sending {
  std::uint64_t number;               // of the next message
  StagingPtr open;                    // messages that have not left
  bool is_listed = false;             // among those with an open staging
  bool is_overdue = false;            // `open` had to stay: too many active messages were in flight
  unsigned in_flight = 0;             // active messages that UCX has not finished
  std::size_t copied_bytes = 0;       // of payloads among them
  std::vector<LongSend*> long_sends;  // in the order of sending
  transport::SentBehind sent;

  explicit Sending(std::uint64_t first_number) noexcept : number(first_number) {}
};

// How the connection with a PE has ended.
struct Ending {
  bool has_left = false;  // its shutdown message is here
  bool is_lost = false;
  bool is_abandoned = false;  // another network has taken over
  std::string cause;
  void* request = nullptr;  // UCX's, for the end of the endpoint
};

struct Peer {
  Peer(UcxTransport& owner, int number, ucp_worker_h worker, const Setup& setup, InboxEvents& events) noexcept
      : transport(owner),
        target(number),
        session(setup.first_number),
        inbox(worker, setup, events, number),
        sending(setup.first_number) {}

  UcxTransport& transport;
  Target target;  // of puts and gets, with the number of the PE
  ucp_ep_h endpoint = nullptr;
  bool is_new = false;  // it has written first, and has no endpoint here yet
  Session session;
  Inbox inbox;
  Sending sending;
  Ending end;
  transport::Keepalive::Peer keepalive;

  int pe() const noexcept { return target.pe; }
  bool is_gone() const noexcept { return end.has_left || end.is_lost; }
  void note_left() noexcept {
    end.has_left = true;
    target.endpoint = nullptr;
  }
  void note_lost() noexcept {
    end.is_lost = true;
    target.endpoint = nullptr;
  }
};

// Returns true if the PE has to give signs of life. That holds even if nothing is due from it: a PE that waits for a
// third one may depend on it.
inline bool is_watched(const Peer& peer) noexcept { return peer.endpoint != nullptr && !peer.is_gone(); }

}  // namespace shmemx::ucx
