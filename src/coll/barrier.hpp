// The barrier of a team. Within a node: dissemination, in which each PE signals and waits log2(n) times; for more PEs
// than cores counting or, if they are many, a combining tree, in which each PE is scheduled twice at most. On several
// nodes the members of a node gather at their leader, and the leaders disseminate by messages, the first of which the
// last member to arrive sends.
#pragma once

#include "coll/common/team.hpp"

namespace shmemx::coll {

// Returns when all PEs of the team have entered. Stores before it are visible to them after it; puts by messages only
// if they were flushed.
// Edge:  arrive  flag.store / arrived.fetch_add -> flag.load / released.load    all stores of the PE that arrives
void barrier(Team& team, const char* routine) noexcept;

}  // namespace shmemx::coll
