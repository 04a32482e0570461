#include "onesided/send.hpp"

#include "onesided/operations.hpp"

namespace shmemx::onesided {

void send_small_waiting(const char* routine, int pe, am::HandlerId id, am::Bytes header, am::Bytes data,
                        am::SendOptions options) noexcept {
  progress::wait_for(routine, [&] {
    const am::Locked endpoint;
    if (endpoint->try_send_small(pe, id, header, data, options)) return true;
    return endpoint->poll(pe) && endpoint->try_send_small(pe, id, header, data, options);
  });
}

void send_gathered() noexcept {
  const am::Locked endpoint;
  endpoint->flush_gathered();
}

}  // namespace shmemx::onesided
