// The standard's locks: the queue lock of Mellor-Crummey and Scott (MCS), kept in the lock's own `long`. First come,
// first served; a waiting PE spins and sleeps on its own memory.
//
// Every PE has its copy of the word. On one PE, the lock's home, the lower half is the tail of the queue (PE + 1, 0 if
// the lock is free). On each PE the upper half is that PE's queue entry: its successor (PE + 1), whether this PE holds
// or awaits the lock, and whether the predecessor has granted it. All halves are 0 while no PE holds or awaits the
// lock.
//
// Edges:  queue  tail.exchange -> tail.exchange    that the predecessor has claimed its entry
//         next   successor's or(own number) -> predecessor's load in clear_lock    which PE is the successor
//         grant  predecessor's or(kGranted) -> successor's load    everything done under the lock
//         free   clear_lock's tail.cas(0) -> tail.exchange or cas that finds 0    the same, if no PE waited
//         own    entry.and(~kClaimed) or store(0) -> another thread's or(kClaimed)    that the entry is free again
//
// Words of PEs whose memory is not mapped are reached by remote atomics, which execute the same instructions at the
// target.
#pragma once

#include "context/context.hpp"

namespace shmemx::sync {

// Waits until this PE holds the lock. `world` is the default context. `threads`: several threads of this PE may use the
// lock.
void set_lock(const context::Context& world, const char* routine, long* lock, bool threads) noexcept;
// Passes the lock to the successor, or frees it.
void clear_lock(const context::Context& world, const char* routine, long* lock) noexcept;
// Returns true if this PE now holds the lock; false if any thread of any PE holds it.
bool try_lock(const context::Context& world, const char* routine, long* lock) noexcept;

}  // namespace shmemx::sync
