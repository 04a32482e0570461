// The barriers of a team whose members all map each other's memory (select.hpp).
#pragma once

#include "coll/common/team.hpp"

namespace shmemx::coll {

// In round k each PE sets its flag on the PE 2^k ahead and waits for the flag of the PE 2^k behind.
void barrier_dissemination(Team& team, const char* routine) noexcept;
// Each PE adds to one counter; the last one releases all others.
void barrier_counting(Team& team, const char* routine) noexcept;

// Up and down the combining tree.
void barrier_tree(Team& team, const char* routine) noexcept;

}  // namespace shmemx::coll
