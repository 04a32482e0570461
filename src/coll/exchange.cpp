#include "coll/exchange.hpp"

#include <cstring>

#include "am/endpoint.hpp"
#include "coll/common/select.hpp"
#include "coll/internode/leaders.hpp"
#include "coll/internode/reduce.hpp"
#include "coll/node/tree.hpp"

namespace shmemx::coll {
namespace {

// How many of the members for which one stands have the same contribution as it; of one pass of the tree.
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
  const bool last = climb_tree(team, group.routine(), [&](const TreeGroup& at) {
    Alike& sum = alike_at(team, at.first);
    if (at.level == 0) sum = {team.climbed.turns, 1};
    for (int i = 1; i < at.count; ++i) {
      const int pe = at.member(i);
      if (std::memcmp(group.published(pe), group.published(at.first), bytes) != 0) continue;
      const Alike& theirs = alike_at(team, pe);
      if (at.level == 0) {
        ++sum.members;
      } else if (theirs.pass == team.climbed.turns) {
        sum.members += theirs.members;
      }
    }
  });
  descend_tree(team, group.routine(), last,
               [&](const TreeGroup& at, int i) { alike_at(team, at.member(i)) = alike_at(team, at.first); });
  const Alike& all = alike_at(team, team.me());
  return all.pass == team.climbed.turns && all.members == static_cast<std::uint64_t>(team.size());
}

// Where the leader leaves the result for a member of its node, behind what that one has contributed.
struct Result {
  std::uint64_t epoch;
  std::byte merged[kMaxMergedBytes];
};
static_assert(kMaxAlikeBytes >= kMaxMergedBytes && kMaxAlikeBytes + sizeof(Result) <= windows::kScratchBytes);

Result& result_at(const Team& team, int pe) {
  return *reinterpret_cast<Result*>(team.scratch(pe, team.exchanges & 1) + kMaxAlikeBytes);
}

}  // namespace

int leader_of(const TeamGroup& group) noexcept {
  const TeamNodes& nodes = nodes_of(group.team());
  return nodes.leader(nodes.mine);
}

// A member of the node that is in another collective shows what it contributed to an earlier one.
bool merge_by_leaders(TeamGroup& group, void* own, const Combine& records) noexcept {
  am::order_for_sanitizer();
  Team& team = group.team();
  const TeamNodes& nodes = nodes_of(team);
  const std::uint64_t epoch = ++team.epoch;
  auto* const merged = static_cast<std::byte*>(own);
  std::memcpy(team.scratch(team.me(), ++team.exchanges & 1), own, records.element_bytes);
  if (gather_at_leader(team, group.routine(), epoch)) {
    for (const int pe : nodes.here().subspan(1)) {
      alignas(std::max_align_t) std::byte theirs[kMaxMergedBytes];
      std::memcpy(theirs, team.scratch(pe, team.exchanges & 1), records.element_bytes);
      const MergedPes alone{pe, -1};
      std::memcpy(theirs, &alone, sizeof alone);
      records.accumulate(merged, theirs, 1);
    }
    combine_among_leaders(group, merged, 1, records, epoch);
    for (const int pe : nodes.here()) {
      Result& result = result_at(team, pe);
      result.epoch = epoch;
      std::memcpy(result.merged, own, records.element_bytes);
    }
    release_node(team, group.routine(), epoch);
  }
  am::order_for_sanitizer();
  const Result& result = result_at(team, team.me());
  std::memcpy(own, result.merged, records.element_bytes);
  return result.epoch == epoch;
}

bool exchange_alike(TeamGroup& group, const void* data, std::size_t bytes) noexcept {
  group.publish(data, bytes);
  const Team& team = group.team();
  if (team.counting && takes_tree(team.size(), true)) return all_alike_by_tree(group, bytes);
  group.sync();
  for (int pe = 0; pe < group.size(); ++pe) {
    if (std::memcmp(group.published(pe), data, bytes) != 0) return false;
  }
  return true;
}

}  // namespace shmemx::coll
