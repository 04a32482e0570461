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

struct Peer {
  Peer(UcxTransport& owner, int number, ucp_worker_h worker, const Setup& setup, InboxEvents& events) noexcept
      : transport(owner),
        target(number),
        number_out(setup.first_number),
        control_out(setup.first_number),
        control_in(setup.first_number),
        inbox(worker, setup, events, number) {}

  UcxTransport& transport;
  Target target;  // of puts and gets, with the number of the PE
  ucp_ep_h endpoint = nullptr;
  void* closing = nullptr;   // UCX's request for the end of the endpoint
  std::uint64_t number_out;  // of the next message to the PE
  transport::OutgoingSession out;
  transport::IncomingSession in;
  transport::Challenge challenge{};  // to be sent to the PE
  std::uint64_t control_out;         // number of the last ping or pong
  std::uint64_t control_in;
  Inbox inbox;

  StagingPtr open;                    // messages that have not left
  bool is_listed = false;             // among those with an open staging
  bool is_overdue = false;            // `open` had to stay: too many active messages were in flight
  unsigned in_flight = 0;             // active messages that UCX has not finished
  std::size_t copied_bytes = 0;       // of payloads among them
  std::vector<LongSend*> long_sends;  // in the order of sending
  transport::SentBehind sent;

  bool is_new = false;    // it has written first, and has no endpoint here yet
  bool has_left = false;  // its shutdown message is here
  bool is_lost = false;
  bool is_abandoned = false;  // another network has taken over
  std::string cause;

  transport::Keepalive::Peer keepalive;

  int pe() const noexcept { return target.pe; }
  bool is_gone() const noexcept { return has_left || is_lost; }
  void note_left() noexcept {
    has_left = true;
    target.endpoint = nullptr;
  }
  void note_lost() noexcept {
    is_lost = true;
    target.endpoint = nullptr;
  }
};

// Returns true if the PE has to give signs of life. That holds even if nothing is due from it: a PE that waits for a
// third one may depend on it.
inline bool is_watched(const Peer& peer) noexcept { return peer.endpoint != nullptr && !peer.is_gone(); }

}  // namespace shmemx::ucx
