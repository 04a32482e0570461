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

// Where the leader leaves the result for a member of its node, behind what that one has contributed.
struct Result {
  std::uint64_t epoch;
  std::uint64_t alike;
  std::byte data[kMaxMergedBytes];
};
static_assert(kMaxAlikeBytes >= sizeof(Merged) && kMaxAlikeBytes + sizeof(Result) <= windows::kScratchBytes);

Result& result_at(const Team& team, int pe) {
  return *reinterpret_cast<Result*>(team.scratch(pe, team.exchanges & 1) + kMaxAlikeBytes);
}

}  // namespace

// A member of the node that is in another collective shows what it contributed to an earlier one.
void merge_by_leaders(TeamGroup& group, Merged& own, std::size_t bytes, MergeRecords merge) noexcept {
  am::order_for_sanitizer();
  Team& team = group.team();
  const TeamNodes& nodes = nodes_of(team);
  const std::uint64_t epoch = ++team.epoch;
  const std::size_t record_bytes = round_up(offsetof(Merged, data) + bytes, 16);
  const Combine records = {record_bytes, merge};
  std::memcpy(team.scratch(team.me(), ++team.exchanges & 1), &own, record_bytes);
  if (gather_at_leader(team, group.routine(), epoch)) {
    for (const int pe : nodes.here().subspan(1))
      records.accumulate(reinterpret_cast<std::byte*>(&own), team.scratch(pe, team.exchanges & 1), 1);
    combine_among_leaders(group, reinterpret_cast<std::byte*>(&own), 1, records, epoch);
    for (const int pe : nodes.here()) {
      Result& result = result_at(team, pe);
      result.epoch = epoch;
      result.alike = own.alike;
      std::memcpy(result.data, own.data, bytes);
    }
    release_node(team, group.routine(), epoch);
  }
  am::order_for_sanitizer();
  const Result& result = result_at(team, team.me());
  own.alike = result.epoch == epoch ? result.alike : 0;
  std::memcpy(own.data, result.data, bytes);
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
