// The standard's locks: a queue of waiting PEs kept in the lock's own `long`, first come first served.
//
// Every PE has its copy of the word. On one PE, the lock's home, the lower half is the tail of the queue (PE + 1, 0
// when free). On each PE the upper half is that PE's queue entry: who comes next (PE + 1), whether this PE holds or
// wants the lock, whether its turn has come. All zero when nobody holds or wants it.
//
// Edges:  queue  tail.exchange -> tail.exchange    the predecessor, which has claimed its entry before
//         next   successor's or(own number) -> predecessor's load in clear_lock    who comes next
//         grant  predecessor's or(kGranted) -> successor's load    everything done under the lock
//         free   clear_lock's tail.cas(0) -> tail.exchange or cas that finds 0    the same, where nobody waited
//         own    entry.and(~kMine) or store(0) -> another thread's or(kMine)    the entry is as new
//
// Words of PEs whose memory is not mapped are reached by remote atomics, which are the same instructions at the target.
#pragma once

#include "context/context.hpp"

namespace shmemx::sync {

// `world` is the default context. `threads`: more than one thread of this PE may use the lock.
void set_lock(const context::Context& world, const char* routine, long* lock, bool threads) noexcept;
void clear_lock(const context::Context& world, const char* routine, long* lock) noexcept;
// True when acquired.
bool try_lock(const context::Context& world, const char* routine, long* lock) noexcept;

}  // namespace shmemx::sync
