#include "sync/lock.hpp"

#include <cstdint>

#include "base/fatal.hpp"
#include "base/wait.hpp"
#include "context/route.hpp"

namespace shmemx::sync {
namespace {

using Half = std::uint32_t;

constexpr Half kNextMask = (Half{1} << 30) - 1;
constexpr Half kMine = Half{1} << 30;     // this PE holds the lock or waits for it
constexpr Half kGranted = Half{1} << 31;  // the predecessor has passed the lock on

struct LockWord {
  Half* tail;
  Half* entry;
  WaitFront* front;
};

LockWord word_on(const context::Context& world, const char* routine, const long* lock, int pe) {
  if (!context::pe_in_range(world, pe) || reinterpret_cast<std::uintptr_t>(lock) % sizeof(long) != 0) {
    fatal(routine,
          "argument 'lock' at %p is not a lock: allowed are aligned symmetric longs that were 0 on all PEs before the "
          "first use",
          static_cast<const void*>(lock));
  }
  const context::Target target = context::resolve(world, {routine, "lock"}, lock, sizeof(long), pe);
  auto* const halves = reinterpret_cast<Half*>(target.address);
  return {halves, halves + 1, target.front};
}

// Homes are spread over the PEs, so that many locks do not all burden PE 0.
int home_of(const context::Context& world, const long* lock) {
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(lock);
  const std::uint64_t heap_offset = address - world.heap_base;
  const std::uint64_t offset = heap_offset < world.heap_bytes ? heap_offset : address - world.static_base;
  return static_cast<int>(offset / sizeof(long) % world.n_pes);
}

Half load(const Half* at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }

// Marks this PE as owner or waiter. False when it is one already.
bool claim_entry(Half* entry) { return (__atomic_fetch_or(entry, kMine, __ATOMIC_ACQ_REL) & kMine) == 0; }

bool take_free_tail(Half* tail, Half self) {
  Half expected = 0;
  return __atomic_compare_exchange_n(tail, &expected, self, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

}  // namespace

void set_lock(const context::Context& world, const char* routine, long* lock, bool threads) noexcept {
  const LockWord own = word_on(world, routine, lock, world.my_pe);
  if (!claim_entry(own.entry)) {
    if (!threads)
      fatal(routine, "argument 'lock' at %p is already held by this PE, a lock cannot be set twice",
            static_cast<void*>(lock));
    wait_for(routine, [&] { return claim_entry(own.entry); });
  }
  const LockWord home = word_on(world, routine, lock, home_of(world, lock));
  const Half self = static_cast<Half>(world.my_pe) + 1;
  const Half previous = __atomic_exchange_n(home.tail, self, __ATOMIC_ACQ_REL);  // queue
  if (previous == 0) return;
  const LockWord ahead = word_on(world, routine, lock, static_cast<int>(previous) - 1);
  __atomic_fetch_or(ahead.entry, self, __ATOMIC_ACQ_REL);
  wake(*ahead.front);
  wait_for(routine, [&] { return (load(own.entry) & kGranted) != 0; });  // grant
  __atomic_fetch_and(own.entry, ~kGranted, __ATOMIC_ACQ_REL);
}

void clear_lock(const context::Context& world, const char* routine, long* lock) noexcept {
  const LockWord own = word_on(world, routine, lock, world.my_pe);
  if ((load(own.entry) & kMine) == 0) {
    fatal(routine, "argument 'lock' at %p is not held by this PE, allowed are locks that it has set",
          static_cast<void*>(lock));
  }
  const LockWord home = word_on(world, routine, lock, home_of(world, lock));
  Half self = static_cast<Half>(world.my_pe) + 1;
  const bool last = (load(own.entry) & kNextMask) == 0 &&
                    __atomic_compare_exchange_n(home.tail, &self, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  if (last) {
    __atomic_fetch_and(own.entry, ~kMine, __ATOMIC_RELEASE);
    wake(*own.front);  // another thread of this PE may want it
    return;
  }
  // Somebody has queued behind us and is about to say so.
  wait_for(routine, [&] { return (load(own.entry) & kNextMask) != 0; });
  const int next = static_cast<int>(load(own.entry) & kNextMask) - 1;
  __atomic_store_n(own.entry, 0, __ATOMIC_RELEASE);
  const LockWord successor = word_on(world, routine, lock, next);
  __atomic_fetch_or(successor.entry, kGranted, __ATOMIC_ACQ_REL);  // grant
  wake(*successor.front);
  wake(*own.front);
}

bool try_lock(const context::Context& world, const char* routine, long* lock) noexcept {
  const LockWord own = word_on(world, routine, lock, world.my_pe);
  if (!claim_entry(own.entry)) return false;
  const LockWord home = word_on(world, routine, lock, home_of(world, lock));
  if (take_free_tail(home.tail, static_cast<Half>(world.my_pe) + 1)) return true;
  __atomic_fetch_and(own.entry, ~kMine, __ATOMIC_RELEASE);
  wake(*own.front);  // another thread of this PE may have come to wait meanwhile
  test_failed();
  return false;
}

}  // namespace shmemx::sync
