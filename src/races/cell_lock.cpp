#include "races/cell_lock.hpp"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpu_pause.hpp"

namespace shmemx::races {
namespace {

bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

constinit CellLocks cell_locks;
constinit thread_local bool CellLocks::is_owner_ = false;

std::size_t CellLocks::bytes(std::uint64_t pe_bytes, std::uint32_t n_pes) noexcept {
  return n_pes * (kLine + (pe_bytes >> kGranuleBits));
}

bool CellLocks::open(const Layout& layout) noexcept {
  begin_ = reinterpret_cast<std::uintptr_t>(layout.begin);
  pe_granules_ = layout.pe_bytes >> kGranuleBits;
  my_first_ = layout.me * pe_granules_;
  all_granules_ = layout.n_pes * pe_granules_;
  busy_ = layout.shared;
  flags_ = reinterpret_cast<std::atomic<std::uint8_t>*>(layout.shared + layout.n_pes * kLine);
  my_busy_ = reinterpret_cast<std::atomic<std::uint64_t>*>(busy_ + layout.me * kLine);
  are_all_shared_ = 0;
  my_busy_->store(kNowhere, std::memory_order_relaxed);  // the caller's barrier orders it
  return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
}

// Several callers may be here at once.
void CellLocks::share_granule(std::uint64_t granule) noexcept {
  const auto& owner = *reinterpret_cast<std::atomic<std::uint64_t>*>(busy_ + granule / pe_granules_ * kLine);
  std::uint8_t state = kOwned;
  flags_[granule].compare_exchange_strong(state, kClosing, std::memory_order_relaxed);
  membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);                               // share
  while (owner.load(std::memory_order_acquire) == granule) ::sched_yield();  // finish
  flags_[granule].store(kShared, std::memory_order_release);                 // finish
}

void CellLocks::share_private() noexcept {
  if (is_private_shared_.exchange(1, std::memory_order_relaxed) != 0 || my_busy_ == nullptr) return;
  membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);  // share
  const auto is_private = [this](std::uint64_t granule) { return granule != kNowhere && granule >= all_granules_; };
  while (is_private(my_busy_->load(std::memory_order_acquire))) ::sched_yield();  // finish
}

void CellGuard::lock(Cell& cell) noexcept {
  cell_locks.share(cell);
  std::uint64_t word = word_.load(std::memory_order_relaxed) & ~kLocked;
  for (int tries = 1; !word_.compare_exchange_weak(word, word | kLocked, std::memory_order_acquire,  // lock
                                                   std::memory_order_relaxed);
       ++tries) {
    word &= ~kLocked;
    if (tries % 64 == 0) {
      ::sched_yield();
    } else {
      cpu_pause();
    }
  }
}

}  // namespace shmemx::races
