#include "coll/exchange.hpp"

#include <cstring>

#include "coll/common/select.hpp"
#include "coll/internode/leaders.hpp"
#include "coll/internode/reduce.hpp"
#include "coll/node/tree.hpp"

namespace shmemx::coll {
namespace {

// How many of the members for which one stands have the same contribution as it; of one pass of the tree. From a
// leader: not 0 if all have, with the epoch as the pass.
struct Alike {
  std::uint64_t pass;
  std::uint64_t members;
};

Alike& alike_at(const Team& team, int pe) {
  return *reinterpret_cast<Alike*>(team.scratch(pe, team.exchanges & 1) + kMaxAlikeBytes);
}

// A member that is in another collective combines nothing and hands nothing on: its group's count is of another pass.
bool all_alike_by_tree(TeamGroup& group, std::size_t bytes) {
  Team& team = group.team();
  ++team.epoch;
  alike_at(team, team.me()) = {0, 0};
  const bool last = climb_tree(team, [&](const TreeGroup& at) {
    Alike& sum = alike_at(team, at.first);
    if (at.level == 0) sum = {team.tree_passes, 1};
    for (int i = 1; i < at.count; ++i) {
      const int pe = at.member(i);
      if (std::memcmp(group.published(pe), group.published(at.first), bytes) != 0) continue;
      const Alike& theirs = alike_at(team, pe);
      if (at.level == 0) {
        ++sum.members;
      } else if (theirs.pass == team.tree_passes) {
        sum.members += theirs.members;
      }
    }
  });
  descend_tree(team, group.routine(), last,
               [&](const TreeGroup& at, int i) { alike_at(team, at.member(i)) = alike_at(team, at.first); });
  const Alike& all = alike_at(team, team.me());
  return all.pass == team.tree_passes && all.members == static_cast<std::uint64_t>(team.size());
}

// What a leader knows of the members for which it stands: the contribution of one, and whether all have the same.
struct Record {
  std::uint64_t alike;
  std::byte data[kMaxAlikeBytes];
};

void combine_records(std::byte* into, const std::byte* from, std::size_t bytes) noexcept {
  std::uint64_t theirs;
  std::memcpy(&theirs, from, sizeof theirs);
  constexpr std::size_t kData = offsetof(Record, data);
  const bool equal = std::memcmp(into + kData, from + kData, bytes - kData) == 0;
  if (!equal || theirs == 0) std::memset(into, 0, sizeof theirs);
}

// Returns whether what the members of this node have published is `data`. A member that is in another collective shows
// what it published before.
bool node_is_alike(const Team& team, const TeamNodes& nodes, const void* data, std::size_t bytes) {
  for (const int pe : nodes.here()) {
    if (std::memcmp(team.scratch(pe, team.exchanges & 1), data, bytes) != 0) return false;
  }
  return true;
}

bool all_alike_by_leaders(TeamGroup& group, const void* data, std::size_t bytes) {
  Team& team = group.team();
  const TeamNodes& nodes = nodes_of(team);
  const std::uint64_t epoch = ++team.epoch;
  std::memcpy(team.scratch(team.me(), ++team.exchanges & 1), data, bytes);
  if (gather_at_leader(team, group.routine(), epoch)) {
    Record record{node_is_alike(team, nodes, data, bytes) ? 1U : 0U, {}};
    std::memcpy(record.data, data, bytes);
    combine_among_leaders(group, reinterpret_cast<std::byte*>(&record), offsetof(Record, data) + bytes,
                          {1, combine_records}, epoch);
    for (const int pe : nodes.here()) alike_at(team, pe) = {epoch, record.alike};
    release_node(team, group.routine(), epoch);
  }
  const Alike& all = alike_at(team, team.me());
  return all.pass == epoch && all.members != 0;
}

}  // namespace

bool exchange_alike(TeamGroup& group, const void* data, std::size_t bytes) noexcept {
  if (!group.is_direct() && all_alike_by_leaders(group, data, bytes)) return true;
  group.publish(data, bytes);
  const Team& team = group.team();
  if (team.direct && team.counting && takes_tree(team.size(), true)) return all_alike_by_tree(group, bytes);
  group.sync();
  if (!group.is_direct()) return false;
  for (int pe = 0; pe < group.size(); ++pe) {
    if (std::memcmp(group.published(pe), data, bytes) != 0) return false;
  }
  return true;
}

}  // namespace shmemx::coll
