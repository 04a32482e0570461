// Sending that waits for room, and waiting until what was sent has been executed.
#pragma once

#include <deque>

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

// Messages whose long payloads networks send from where they lie, without keeping copies, while the caller goes on.
// The receivers have to take part in what the caller waits for next.
class LongSends {
 public:
  explicit LongSends(const char* routine) noexcept : routine_(routine) {}
  LongSends(const LongSends&) = delete;
  LongSends& operator=(const LongSends&) = delete;
  ~LongSends() { finish(); }

  // As progress::send(), but a long payload stays in use until finish().
  void send(am::OutgoingMessage message) noexcept;
  // Waits until the networks need no payload any more.
  void finish() noexcept;

 private:
  const char* const routine_;
  std::deque<transport::Outgoing> outgoing_;
};

// Waits until all counted messages that were sent to `pe`, or to all, before the call have been executed there.
void flush(const char* routine, int pe) noexcept;
void flush_all(const char* routine) noexcept;

}  // namespace shmemx::progress
