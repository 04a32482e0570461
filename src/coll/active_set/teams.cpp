#include "coll/active_set/teams.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <vector>

#include "base/mutex.hpp"
#include "coll/split.hpp"

namespace shmemx::coll {
namespace {

constexpr std::size_t kTeams = windows::kActiveSetSlots;
static_assert(kTeams == 64);  // the indices fit one word of pSync

// The sets that have teams, in a hash table with room for twice as many: entries are added and never changed before
// finalize, so that they are found without a lock.
struct Entry {
  ActiveSet set;
  std::atomic<Team*> team{nullptr};  // null: unused
};
constexpr std::size_t kEntries = 2 * kTeams;
constinit std::array<Entry, kEntries> entries{};

struct Indices {
  Mutex mutex;  // of all below, and of changes to `entries`
  std::uint64_t taken = 0;
  std::uint64_t offered = 0;  // by threads that are just agreeing
  std::vector<ActiveSet> without_team;
};
// Never destroyed: other threads may be in collectives while the process exits.
Indices& indices() {
  static auto* const instance = new Indices;
  return *instance;
}

std::size_t hash_of(const ActiveSet& set) {
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(set.psync) / sizeof(long);
  for (const int number : {set.start, set.log_stride, set.size})
    hash = (hash ^ static_cast<std::uint32_t>(number)) * 0x9e3779b97f4a7c15U;
  return static_cast<std::size_t>(hash >> 57) % kEntries;
}

// Requires the mutex. The table is never more than half full.
void enter(const ActiveSet& set, Team* team) {
  std::size_t at = hash_of(set);
  while (entries[at].team.load(std::memory_order_relaxed) != nullptr) at = (at + 1) % kEntries;  // under the mutex
  entries[at].set = set;
  entries[at].team.store(team, std::memory_order_release);  // active
}

bool is_without_team(const ActiveSet& set) {
  const std::lock_guard guard(indices().mutex);
  const std::vector<ActiveSet>& known = indices().without_team;
  return std::find(known.begin(), known.end(), set) != known.end();
}

// Reserves the free indices for an agreement: another thread that makes a team meanwhile gets none of them.
std::uint64_t offer_indices() {
  const std::lock_guard guard(indices().mutex);
  const std::uint64_t offer = ~(indices().taken | indices().offered);
  indices().offered |= offer;
  return offer;
}

// The first member collects what all have taken, and gives the lowest free index to all. Returns kTeams if there is
// none. [2] of pSync carries the words, and is 0 again.
std::size_t agree_on_index(ActiveGroup& group, std::uint64_t offer) {
  if (group.me() != 0) group.add_bits(0, ~offer);
  group.sync();
  if (group.me() == 0) {
    const auto index = static_cast<std::uint64_t>(std::countr_one(group.published_word(0) | ~offer));
    for (int pe = 0; pe < group.size(); ++pe) group.put_word(pe, index + 1);
  }
  group.flush_and_sync();
  const std::uint64_t word = group.published_word(group.me());
  group.retract_word();
  return static_cast<std::size_t>(word - 1);
}

}  // namespace

Team* find_active_team(const ActiveSet& set) noexcept {
  for (std::size_t at = hash_of(set);; at = (at + 1) % kEntries) {
    Team* const team = entries[at].team.load(std::memory_order_acquire);  // active
    if (team == nullptr || entries[at].set == set) return team;
  }
}

bool has_met(const ActiveSet& set) noexcept { return find_active_team(set) != nullptr || is_without_team(set); }

Team* make_active_team(ActiveGroup& group, const ActiveSet& set) noexcept {
  if (group.size() == 1 || is_without_team(set)) return nullptr;
  group.check_initial_words();
  awaited_set = &set;
  const std::uint64_t offer = offer_indices();
  const std::size_t index = agree_on_index(group, offer);
  Team* const team = index < kTeams ? &open_team(kMaxTeams + index, group.route(), kActiveTeam) : nullptr;
  group.sync();  // no member uses the team before all have cleared their flags
  awaited_set = nullptr;
  const std::lock_guard guard(indices().mutex);
  indices().offered &= ~offer;
  if (team == nullptr) {
    indices().without_team.push_back(set);
  } else {
    indices().taken |= std::uint64_t{1} << index;
    enter(set, team);
  }
  return team;
}

void reset_active_teams() noexcept {
  const std::lock_guard guard(indices().mutex);
  for (Entry& entry : entries) {
    if (Team* const team = entry.team.exchange(nullptr, std::memory_order_relaxed)) close_team(*team);
  }
  indices().taken = 0;
  indices().without_team.clear();
}

}  // namespace shmemx::coll
