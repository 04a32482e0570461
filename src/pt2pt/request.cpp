#include "pt2pt/request.hpp"

#include "base/doorbell.hpp"

namespace shmemx::pt2pt {

void complete(Request& request) noexcept {
  request.phase = Phase::complete;
  request.done.store(true, std::memory_order_release);  // complete
  wake_own_sleepers();
}

}  // namespace shmemx::pt2pt
