// Sending of messages that nobody waits for now.
#pragma once

#include "am/endpoint.hpp"
#include "progress/wait.hpp"

namespace shmemx::onesided {

// Short ones may leave together with others, at the next poll at the latest; long data are read from their place, which
// must stay until the message has been executed. Returns false if there is no room.
inline bool try_send_nbi(int pe, am::HandlerId id, am::Bytes header, am::Bytes data) noexcept {
  const am::Locked endpoint;
  if (data.size() >= transport::kLongBytes) return endpoint->try_send_lasting(pe, id, header, data);
  return endpoint->try_send_coalesced(pe, id, header, data);
}

inline void send_nbi(const char* routine, int pe, am::HandlerId id, am::Bytes header, am::Bytes data) noexcept {
  if (try_send_nbi(pe, id, header, data)) [[likely]]
    return;
  progress::wait_for(routine, [&] {
    am::poll();
    return try_send_nbi(pe, id, header, data);
  });
}

}  // namespace shmemx::onesided
