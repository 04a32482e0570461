#include "base/doorbell.hpp"

#include "base/futex.hpp"

namespace shmemx {

void wake_sleepers(Doorbell& doorbell) noexcept {
  // The thread that takes the mark wakes; a stream of puts to a sleeping PE pays for one wake only.
  if (doorbell.sleepers.exchange(0, std::memory_order_acq_rel) == 0) return;
  doorbell.wake_seq.fetch_add(1, std::memory_order_release);  // wake
  futex_wake(doorbell.wake_seq, FutexScope::node);
  if (doorbell_hooks.wake_network_sleeper == nullptr) return;
  if (&doorbell == own_doorbell() || doorbell.wake_socket.load(std::memory_order_seq_cst) != 0)  // seat
    doorbell_hooks.wake_network_sleeper(doorbell);
}

}  // namespace shmemx
