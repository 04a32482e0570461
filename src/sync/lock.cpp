#include "sync/lock.hpp"

#include <cstdint>

#include "base/doorbell.hpp"
#include "base/fatal.hpp"
#include "context/route.hpp"
#include "onesided/update.hpp"
#include "progress/failed_test.hpp"
#include "progress/test_loop.hpp"
#include "progress/wait.hpp"

namespace shmemx::sync {
namespace {

using Half = std::uint32_t;

constexpr Half kNextMask = (Half{1} << 30) - 1;
constexpr Half kClaimed = Half{1} << 30;  // this PE holds or awaits the lock
constexpr Half kGranted = Half{1} << 31;  // the predecessor has passed the lock to this PE

// One half of the lock's word on some PE, whose memory may be mapped or not.
struct RemoteHalf {
  Half* at;              // if mapped
  Doorbell* doorbell;    // null if not mapped
  context::Place place;  // if not mapped
  const char* routine;

  Half apply(atomic::ElementOp op, Half operand, Half condition = 0) const {
    return static_cast<Half>(onesided::fetch(routine, place, atomic::operation(op, operand, condition)));
  }
  Half exchange(Half value) const {
    if (doorbell == nullptr) return apply(atomic::ElementOp::replace, value);
    return __atomic_exchange_n(at, value, __ATOMIC_ACQ_REL);  // queue
  }
  // Returns what was there.
  Half compare_swap(Half condition, Half value) const {
    if (doorbell == nullptr) return apply(atomic::ElementOp::compare_swap, value, condition);
    __atomic_compare_exchange_n(at, &condition, value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);  // free
    return condition;
  }
  // Completes later if the PE is not mapped.
  void add_bits(Half bits) const {
    if (doorbell == nullptr) return onesided::post(routine, place, atomic::operation(atomic::ElementOp::bor, bits));
    __atomic_fetch_or(at, bits, __ATOMIC_ACQ_REL);  // next, grant
    wake(*doorbell);
  }
};

struct LockWord {
  RemoteHalf tail;
  RemoteHalf entry;
};

context::Location location_on(const context::Context& world, const char* routine, const long* lock, int pe) {
  if (!context::pe_in_range(world, pe) || reinterpret_cast<std::uintptr_t>(lock) % sizeof(long) != 0) {
    fatal(routine,
          "argument 'lock' at %p is not a lock: allowed are aligned symmetric longs that were 0 on all PEs before the "
          "first use",
          static_cast<const void*>(lock));
  }
  return context::resolve(world, {routine, "lock"}, lock, sizeof(long), pe);
}

LockWord word_on(const context::Context& world, const char* routine, const long* lock, int pe) {
  const context::Location at = location_on(world, routine, lock, pe);
  auto* const halves = reinterpret_cast<Half*>(at.address);
  context::Place place = at.place;
  const RemoteHalf tail{halves, at.doorbell, place, routine};
  place.offset += sizeof(Half);
  return {tail, {halves + 1, at.doorbell, place, routine}};
}

// This PE's own queue entry, which is always mapped.
struct OwnEntry {
  Half* at;
  Doorbell* doorbell;
};
OwnEntry own_entry(const context::Context& world, const char* routine, const long* lock) {
  const context::Location at = location_on(world, routine, lock, world.my_pe);
  return {reinterpret_cast<Half*>(at.address) + 1, at.doorbell};
}

// Returns the lock's home. Homes are spread over the PEs, so that many locks do not all load PE 0.
int home_of(const context::Context& world, const long* lock) {
  const context::Place place = context::place_of(world, lock, world.my_pe);
  const auto home = static_cast<int>(place.offset / sizeof(long) % world.n_pes);
  return context::is_real(home) ? home : 0;
}

Half load(const Half* at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }

// Claims this PE's entry for this thread. Returns false if the PE holds or awaits the lock already.
bool claim_entry(Half* entry) { return (__atomic_fetch_or(entry, kClaimed, __ATOMIC_ACQ_REL) & kClaimed) == 0; }

// `previous`: 1 + the PE that had the lock, or awaited it, when this one came.
bootstrap::Awaited awaited_behind(const long* lock, Half previous) {
  bootstrap::Awaited awaited;
  awaited.kind = bootstrap::Awaited::Kind::lock;
  awaited.at = reinterpret_cast<std::uintptr_t>(lock);
  awaited.pe = static_cast<std::int32_t>(previous) - 1;
  return awaited;
}

void note_vain_try(const char* routine, const long* lock, Half previous) {
  if (++progress::failed_tests % progress::kFailedTests == 0)
    progress::note_failed(routine, awaited_behind(lock, previous));
}

}  // namespace

void set_lock(const context::Context& world, const char* routine, long* lock, bool threads) noexcept {
  const OwnEntry own = own_entry(world, routine, lock);
  if (!claim_entry(own.at)) {
    if (!threads)
      fatal(routine,
            "argument 'lock' at %p is already held by this PE, or was not 0 before its first use; a lock cannot be set "
            "twice",
            static_cast<void*>(lock));
    progress::wait_for(routine, [&] { return claim_entry(own.at); });
  }
  const LockWord home = word_on(world, routine, lock, home_of(world, lock));
  const Half self = static_cast<Half>(world.my_pe) + 1;
  const Half previous = home.tail.exchange(self);  // queue
  if (previous == 0) return;
  const LockWord predecessor = word_on(world, routine, lock, static_cast<int>(previous) - 1);
  predecessor.entry.add_bits(self);                                                                // next
  progress::wait_for(routine, progress::Described{[&] { return (load(own.at) & kGranted) != 0; },  // grant
                                                  [&] { return awaited_behind(lock, previous); }});
  __atomic_fetch_and(own.at, ~kGranted, __ATOMIC_ACQ_REL);
}

void clear_lock(const context::Context& world, const char* routine, long* lock) noexcept {
  const OwnEntry own = own_entry(world, routine, lock);
  if ((load(own.at) & kClaimed) == 0) {
    fatal(routine, "argument 'lock' at %p is not held by this PE, allowed are locks that it has set",
          static_cast<void*>(lock));
  }
  const LockWord home = word_on(world, routine, lock, home_of(world, lock));
  const Half self = static_cast<Half>(world.my_pe) + 1;
  const bool last = (load(own.at) & kNextMask) == 0 && home.tail.compare_swap(self, 0) == self;  // free
  if (last) {
    __atomic_fetch_and(own.at, ~kClaimed, __ATOMIC_RELEASE);
    wake(*own.doorbell);  // another thread of this PE may wait for the entry
    return;
  }
  // A successor has swapped itself into the tail and will write its number into our entry.
  progress::wait_for(routine, [&] { return (load(own.at) & kNextMask) != 0; });
  const int next = static_cast<int>(load(own.at) & kNextMask) - 1;
  __atomic_store_n(own.at, 0, __ATOMIC_RELEASE);
  const LockWord successor = word_on(world, routine, lock, next);
  successor.entry.add_bits(kGranted);  // grant
  wake(*own.doorbell);
}

bool try_lock(const context::Context& world, const char* routine, long* lock) noexcept {
  const OwnEntry own = own_entry(world, routine, lock);
  const Half self = static_cast<Half>(world.my_pe) + 1;
  if (!claim_entry(own.at)) {
    note_vain_try(routine, lock, self);
    return false;
  }
  const LockWord home = word_on(world, routine, lock, home_of(world, lock));
  const Half holder = home.tail.compare_swap(0, self);
  if (holder == 0) return true;
  __atomic_fetch_and(own.at, ~kClaimed, __ATOMIC_RELEASE);
  wake(*own.doorbell);  // another thread of this PE may wait for the entry
  progress::test_failed();
  note_vain_try(routine, lock, holder);
  return false;
}

}  // namespace shmemx::sync
