#include "coll/internode/leaders.hpp"

#include "am/endpoint.hpp"
#include "coll/common/flags.hpp"
#include "coll/common/matching.hpp"

namespace shmemx::coll {
namespace {

void arrive(Team& team, const TeamNodes& nodes) {
  const int leader = nodes.leader(nodes.mine);
  const auto others = static_cast<std::uint64_t>(nodes.size_of(nodes.mine)) - 1;
  const std::uint64_t own = team.counted.enter(team.calls.digest);
  // The counter is never reset. Nobody arrives for the next time before the leader has seen all arrivals of this time.
  const std::uint64_t arrived = team.central(leader).arrived.fetch_add(own, std::memory_order_acq_rel) + own;  // arrive
  if (all_arrived(arrived, team.counted.due(others))) context::wake_heap(context::peer_heap(team.route, leader));
}

void await_others(Team& team, const TeamNodes& nodes, const char* routine) {
  const int others = nodes.size_of(nodes.mine) - 1;
  if (others == 0) return;
  team.counted.enter(team.calls.digest);
  const std::uint64_t due = team.counted.due(static_cast<std::uint64_t>(others));
  const std::atomic<std::uint64_t>& arrived = team.central(team.me()).arrived;
  // Node peers signal through memory, so any of them can stand for the expected PE.
  wait_for_member(team, routine, context::world_pe(team.route, nodes.here().back()), [&] {
    return all_arrived(arrived.load(std::memory_order_acquire), due);  // arrive
  });
  if (arrived.load(std::memory_order_relaxed) != due) [[unlikely]]
    report_mismatch(team, routine);
}

}  // namespace

bool gather_at_leader(Team& team, const char* routine, std::uint64_t epoch) noexcept {
  const TeamNodes& nodes = nodes_of(team);
  if (nodes.leads()) {
    await_others(team, nodes, routine);
    return true;
  }
  arrive(team, nodes);
  await_flag(team, routine, nodes.leader(nodes.mine), epoch);
  return false;
}

void release_node(Team& team, const char* routine, std::uint64_t epoch) noexcept {
  const TeamNodes& nodes = nodes_of(team);
  for (const int pe : nodes.here().subspan(1)) set_flag(team, routine, pe, epoch);
}

void sync_node(Team& team, const char* routine) noexcept {
  const std::uint64_t epoch = ++team.epoch;
  if (gather_at_leader(team, routine, epoch)) release_node(team, routine, epoch);
}

}  // namespace shmemx::coll
