#include "races/team.hpp"

#include <map>
#include <mutex>

namespace shmemx::races {
namespace {

struct KnownTeam {
  TeamPlace place;
  std::uint64_t n_splits = 0;
};
struct Teams {
  SpinLock lock;
  std::map<shmem_team_t, KnownTeam> by_handle;
  std::map<std::uint64_t, std::uint64_t> n_calls;  // collectives so far, by the team's number
};
// Never destroyed: threads may still run while the process exits.
Teams& teams() {
  static auto* const instance = new Teams;
  return *instance;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t hash = (a ^ (b + 0x9e3779b97f4a7c15U + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9U;
  const std::uint64_t mixed = hash ^ hash >> 31;
  return mixed == 0 ? 1 : mixed;
}

TeamPlace place_of(shmem_team_t team, std::uint64_t number) noexcept {
  return {number, static_cast<std::uint32_t>(pshmem_team_n_pes(team)),
          static_cast<std::uint32_t>(pshmem_team_my_pe(team)), team};
}

// Requires the lock. The predefined teams are known from the begin.
KnownTeam* find(shmem_team_t team) noexcept {
  auto& known = teams().by_handle;
  if (const auto at = known.find(team); at != known.end()) return &at->second;
  if (team != SHMEM_TEAM_WORLD && team != SHMEM_TEAM_SHARED) return nullptr;
  const std::uint64_t number =
      team == SHMEM_TEAM_WORLD
          ? 1
          : mix(2, static_cast<std::uint64_t>(pshmem_team_translate_pe(team, 0, SHMEM_TEAM_WORLD)));
  return &(known[team] = {place_of(team, number), 0});
}

}  // namespace

TeamPlace place_in(shmem_team_t team) noexcept {
  const std::lock_guard guard(teams().lock);
  const KnownTeam* const known = find(team);
  return known == nullptr ? TeamPlace{} : known->place;
}

TeamPlace place_in(const ActiveSet& set) noexcept {
  const std::uint64_t shape = static_cast<std::uint64_t>(set.first) << 40 |
                              static_cast<std::uint64_t>(set.log_stride) << 32 | static_cast<std::uint32_t>(set.size);
  Symmetric work{};
  if (!job.locate(reinterpret_cast<std::uintptr_t>(set.work), work)) return {};
  work.pe = 0;
  const auto member = static_cast<std::uint32_t>((job.my_pe() - set.first) >> set.log_stride);
  return {mix(shape, work.key()), static_cast<std::uint32_t>(set.size), member, SHMEM_TEAM_INVALID, set.first,
          set.log_stride};
}

void note_team(shmem_team_t parent, shmem_team_t team, std::uint64_t axis) noexcept {
  if (team == SHMEM_TEAM_INVALID) return;
  const auto first = static_cast<std::uint64_t>(pshmem_team_translate_pe(team, 0, SHMEM_TEAM_WORLD));
  const std::lock_guard guard(teams().lock);
  const KnownTeam* const known = find(parent);
  if (known == nullptr) return;
  const std::uint64_t number = mix(mix(known->place.number, known->n_splits), first << 1 | axis);
  teams().by_handle[team] = {place_of(team, number), 0};
}

void note_split(shmem_team_t parent) noexcept {
  const std::lock_guard guard(teams().lock);
  if (KnownTeam* const known = find(parent); known != nullptr) ++known->n_splits;
}

void forget_team(shmem_team_t team) noexcept {
  const std::lock_guard guard(teams().lock);
  teams().by_handle.erase(team);
}

void forget_teams() noexcept {
  const std::lock_guard guard(teams().lock);
  teams().by_handle.clear();
  teams().n_calls.clear();
}

int world_pe(const TeamPlace& team, std::uint32_t member) noexcept {
  const auto number = static_cast<int>(member);
  if (team.team == SHMEM_TEAM_INVALID) return team.first + (number << team.log_stride);
  return pshmem_team_translate_pe(team.team, number, SHMEM_TEAM_WORLD);
}

void note_contribution(Routine& routine, const TeamPlace& team, const Blocks& dest) noexcept {
  if (!routine.is_watched() || team.number == 0) return;
  Thread& thread = routine.thread();
  for (std::uint32_t member = 0; member < team.members; ++member) {
    if (member == team.member) continue;
    record_remote_blocks(routine, dest, world_pe(team, member),
                         {thread.now, Kind::contribution, routine.where(), thread.knowledge()});
  }
}

Collective::Collective(Routine& routine, const TeamPlace& team, std::uint64_t bytes) noexcept : routine_(routine) {
  if (!routine.is_watched() || team.number == 0 || team.member >= team.members) return;
  std::uint64_t n_calls = 0;
  {
    const std::lock_guard guard(teams().lock);
    n_calls = ++teams().n_calls[team.number];
  }
  visit_ = {mix(team.number, n_calls), team.members, team.member};
  Thread& thread = routine.thread();
  job.enter(visit_, *thread.clock, bytes);
  thread.advance();  // the buffers are in use from now on
}

std::uint64_t Collective::leave(Waits waits, std::uint32_t root) noexcept {
  if (visit_.key == 0) return 0;
  Job::Members from{0, visit_.members - 1};
  if (waits == Waits::for_root) from = {root, root};
  if (waits == Waits::for_lower) from = {0, visit_.member};
  if (waits == Waits::for_none) from = {visit_.member, visit_.member};
  return job.leave(visit_, from, *routine_.thread().clock);
}

}  // namespace shmemx::races
