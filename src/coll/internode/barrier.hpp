// The barrier of a team on several nodes: each leader disseminates for its node.
#pragma once

#include <vector>

#include "coll/common/team.hpp"

namespace shmemx::coll {

void barrier_remote(Team& team, const char* routine) noexcept;

// Returns the members of other nodes that wait for this PE in the barrier: leaders, if this PE is one.
std::vector<int> awaiting_in_barrier(Team& team);

}  // namespace shmemx::coll
