// Do the node's PEs outnumber the CPU time they may use?
#pragma once

#include "runtime/messaging.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// The same answer on every PE of the node of `me`: computed from the records of all of them.
bool pes_outnumber_cores(const windows::Arena& arena, int me) noexcept;

// Remembers where the PEs of the node of `me` say on which CPU they wait, for part_from_pes(). The arena stays.
void watch_doorbells_of_node(const windows::Arena& arena, const Doorbells& doorbells, int me);

// Moves this thread to another CPU it may use, if a PE of the node with a lower number waits on its present one. The
// scheduler brings PEs that wake each other together on one core where other programs run too, and keeps them there: to
// it, two PEs that wait in turn are one busy core. Called by waiters; looks once a millisecond at most. The set of CPUs
// that the thread may use is the same afterwards.
void part_from_pes() noexcept;

}  // namespace shmemx::runtime
