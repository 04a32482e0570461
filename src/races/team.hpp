// Collectives of teams and active sets: members meet, release what they know, and leave with what the others have
// released, as far as the standard lets them depend on each other.
#pragma once

#include "races/routine.hpp"

namespace shmemx::races {

// The members that a collective waits for.
enum class Waits {
  for_all,
  for_root,
  for_lower,  // and itself
  for_none,
};

struct TeamPlace {
  std::uint64_t number = 0;  // the same on all members; 0: none
  std::uint32_t members = 0;
  std::uint32_t member = 0;
  shmem_team_t team = SHMEM_TEAM_INVALID;  // or an active set:
  int first = 0;
  int log_stride = 0;
};
TeamPlace place_in(shmem_team_t team) noexcept;
// PEs first, first + stride, ... of the world; `work` tells apart sets of the same PEs.
struct ActiveSet {
  int first;
  int log_stride;
  int size;
  const void* work;
};
TeamPlace place_in(const ActiveSet& set) noexcept;
// A team that `parent` has made by its next split; `axis` tells apart those of one split.
void note_team(shmem_team_t parent, shmem_team_t team, std::uint64_t axis) noexcept;
void note_split(shmem_team_t parent) noexcept;
void forget_team(shmem_team_t team) noexcept;
void forget_teams() noexcept;

// A member of the team in the world.
int world_pe(const TeamPlace& team, std::uint32_t member) noexcept;

// This PE's share goes to the dests of all members, which may not have come yet. Called before Collective.
void note_contribution(Routine& routine, const TeamPlace& team, const Blocks& dest) noexcept;

// From entry to return of one call.
class Collective {
 public:
  Collective(Routine& routine, const TeamPlace& team, std::uint64_t bytes = 0) noexcept;
  // Returns the bytes of all members.
  std::uint64_t leave(Waits waits, std::uint32_t root = 0) noexcept;

 private:
  Routine& routine_;
  Job::Visit visit_{};
};

}  // namespace shmemx::races
