#include "pt2pt/request.hpp"

#include "base/wait.hpp"

namespace shmemx::pt2pt {

void complete(Request& request) noexcept {
  request.phase = Phase::complete;
  request.done.store(true, std::memory_order_release);  // complete
  if (Doorbell* const doorbell = wait_policy().own_doorbell) wake(*doorbell);
}

}  // namespace shmemx::pt2pt
