// Tells whether the node's PEs outnumber the CPU time they may use, and spreads waiting PEs over CPUs.
#pragma once

#include <span>

#include "base/doorbell.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// Returns the same result on every PE of the node of `me`: it is computed from the records of all of them.
bool pes_outnumber_cores(const windows::Arena& arena) noexcept;

// Remembers the doorbells in which the other PEs of this node publish the CPU they wait on, for part_from_pes(). The
// arena must stay mapped.
void watch_doorbells(const Doorbells& doorbells, std::span<const int> node_pes, int me);

// Moves this thread to another CPU of its affinity mask if a PE of the node with a lower number waits on its present
// one. The scheduler places PEs that wake each other on one core if other programs run too, and keeps them there: two
// PEs that wait in turn look like one busy core. Waiters call this; it acts at most once a millisecond. The affinity
// mask is the same afterwards.
void part_from_pes() noexcept;

}  // namespace shmemx::runtime
