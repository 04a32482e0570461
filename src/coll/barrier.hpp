// Arrival synchronisation of a team. Two shapes: dissemination (each PE signals and waits log2(n) times; two PEs cost
// one line transfer each way) and counting (each PE is scheduled once; for more PEs than cores). On several nodes the
// members of a node meet their leader, and the leaders disseminate by messages.
#pragma once

#include "coll/team.hpp"

namespace shmemx::coll {

// Returns when all PEs of the team have entered. Stores before it are visible to them after it; puts by messages only
// if they were flushed.
// Edge:  arrive  arrival.store / arrived.fetch_add -> arrival.load / released.load    all stores of the PE that arrives
void barrier(Team& team, const char* routine) noexcept;

// One-way: tells `pe` that this PE has come to `epoch`; waits for the same from `pe`.
void set_flag(const Team& team, const char* routine, int pe, std::uint64_t epoch) noexcept;
void await_flag(const Team& team, const char* routine, int pe, std::uint64_t epoch) noexcept;

}  // namespace shmemx::coll
