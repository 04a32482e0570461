// Sending that waits for room, and waiting until what was sent has been executed.
#pragma once

#include "am/endpoint.hpp"

namespace shmemx::progress {

// Sends; polls and waits while there is no room. On return header and payload may be used again. `routine` names the
// API routine for diagnostics. Not in handlers.
[[gnu::noinline]] void send_waiting(const char* routine, int pe, am::HandlerId id, am::Bytes header, am::Bytes payload,
                                    am::SendOptions options) noexcept;
[[gnu::always_inline]] inline void send(const char* routine, int pe, am::HandlerId id, am::Bytes header,
                                        am::Bytes payload = {}, am::SendOptions options = {}) noexcept {
  if (payload.size() < transport::kLongBytes) [[likely]] {
    const am::Locked endpoint;
    if (endpoint->try_send(pe, id, header, payload, options)) [[likely]]
      return;
  }
  send_waiting(routine, pe, id, header, payload, options);
}

// Waits until all counted messages that were sent to `pe`, or to all, before the call have been executed there.
void flush(const char* routine, int pe) noexcept;
void flush_all(const char* routine) noexcept;

}  // namespace shmemx::progress
