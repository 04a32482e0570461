// Sending of messages that nobody waits for now.
#pragma once

#include "am/endpoint.hpp"
#include "progress/send.hpp"
#include "progress/wait.hpp"

namespace shmemx::onesided {

[[gnu::noinline]] void send_small_waiting(const char* routine, int pe, am::HandlerId id, am::Bytes header,
                                          am::Bytes data, am::SendOptions options) noexcept;

// Is a message of this length to that PE one that may gather with others (am/net_channel.hpp)?
inline bool may_gather(int pe, std::size_t bytes) noexcept {
  return am::is_internode(pe) && am::NetChannel::is_small(bytes);
}

// Sends an operation without a reply that may gather. On return header and data may be used again.
[[gnu::always_inline]] inline void send_small(const char* routine, int pe, am::HandlerId id, am::Bytes header,
                                              am::Bytes data, am::SendOptions options) noexcept {
  {
    const am::Locked endpoint;
    if (endpoint->try_send_small(pe, id, header, data, options)) [[likely]]
      return;
  }
  send_small_waiting(routine, pe, id, header, data, options);
}

// The same for one of any length, to any PE.
[[gnu::always_inline]] inline void send_operation(const char* routine, int pe, am::HandlerId id, am::Bytes header,
                                                  am::Bytes data, am::SendOptions options) noexcept {
  if (may_gather(pe, header.size() + data.size())) return send_small(routine, pe, id, header, data, options);
  progress::send(routine, pe, id, header, data, options);
}

// Short ones may leave together with others, at the next poll at the latest; long data are read from their place, which
// must stay until the message has been executed. Returns false if there is no room.
inline bool try_send_nbi(int pe, am::HandlerId id, am::Bytes header, am::Bytes data,
                         am::SendOptions options = {}) noexcept {
  const am::Locked endpoint;
  if (data.size() >= transport::kLongBytes) return endpoint->try_send_lasting(pe, id, header, data, options);
  return endpoint->try_send_coalesced(pe, id, header, data, options);
}

inline void send_nbi(const char* routine, int pe, am::HandlerId id, am::Bytes header, am::Bytes data,
                     am::SendOptions options = {}) noexcept {
  if (try_send_nbi(pe, id, header, data, options)) [[likely]]
    return;
  progress::wait_for(routine, [&] {
    am::poll();
    return try_send_nbi(pe, id, header, data, options);
  });
}

}  // namespace shmemx::onesided
