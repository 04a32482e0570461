// What is kept of a PE from the first message to or from it on.
#pragma once

#include <ucp/api/ucp.h>

#include <string>
#include <vector>

#include "transport/ucx/inbox.hpp"
#include "transport/ucx/staging.hpp"
#include "transport/ucx/wire.hpp"

namespace shmemx::ucx {

class UcxTransport;
struct LongFlight;

// A key of that PE's memory, unpacked for its endpoint.
struct RemoteKey {
  std::string bytes;
  std::uint64_t base;
  ucp_rkey_h rkey;
};

struct Peer {
  Peer(UcxTransport& owner, int number, ucp_worker_h worker, Sink& sink, InboxEvents& events) noexcept
      : transport(owner), pe(number), inbox(worker, sink, events, number) {}

  UcxTransport& transport;
  int pe;
  ucp_ep_h endpoint = nullptr;
  Envelope envelope{};      // of what goes there; its number is the next one's
  std::uint64_t proof = 0;  // of what comes from there
  Inbox inbox;

  StagingPtr open;               // messages that have not left
  bool is_listed = false;        // among those with an open staging
  bool is_overdue = false;       // what is open would have left, had there been room
  unsigned in_flight = 0;        // active messages that UCX has not finished
  std::size_t copied_bytes = 0;  // of payloads among them
  std::vector<LongFlight*> payloads;

  bool is_new = false;    // it has written first
  bool has_left = false;  // it has said good-bye
  bool is_lost = false;
  std::string cause;

  std::uint32_t rounds = 0;  // of the heartbeat in which nothing has come from it

  std::vector<Completion*> unflushed;  // of puts that nobody has asked the target for
  std::vector<RemoteKey> keys;

  bool is_gone() const noexcept { return has_left || is_lost; }
};

// One that has to give signs of life, whether or not something is due from it: whoever waits for a third PE may depend
// on it.
inline bool is_watched(const Peer& peer) noexcept { return peer.endpoint != nullptr && !peer.is_gone(); }

}  // namespace shmemx::ucx
