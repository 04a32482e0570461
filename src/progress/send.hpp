// Sending that waits for room, and waiting until what was sent has been executed.
#pragma once

#include "am/endpoint.hpp"

namespace shmemx::progress {

// Sends; polls and waits while there is no room. On return the header may be used again, and the payload unless it
// stays for longer (Lifetime). `routine` names the API routine for diagnostics. Not in handlers.
[[gnu::noinline]] void send_waiting(const char* routine, am::OutgoingMessage message) noexcept;
[[gnu::always_inline]] inline void send(const char* routine, const am::OutgoingMessage& message) noexcept {
  if (message.payload.size() < transport::kLongBytes) [[likely]] {
    const am::Locked endpoint;
    if (endpoint->try_send(message)) [[likely]]
      return;
  }
  send_waiting(routine, message);
}

// Waits until all counted messages that were sent to `pe`, or to all, before the call have been executed there.
void flush(const char* routine, int pe) noexcept;
void flush_all(const char* routine) noexcept;

}  // namespace shmemx::progress
