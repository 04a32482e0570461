#include "coll/internode/leaders.hpp"

#include "coll/common/flags.hpp"
#include "coll/common/matching.hpp"

namespace shmemx::coll {
namespace {

// On the leader.
void await_others(const Team& team, const TeamNodes& nodes, const char* routine, std::uint64_t due) {
  const std::atomic<std::uint64_t>& arrived = team.central(team.me()).arrived;
  // Node peers signal through memory, so any of them can stand for the expected PE.
  wait_for_member(team, routine, context::world_pe(team.route, nodes.here().back()), [&] {
    return all_arrived(arrived.load(std::memory_order_acquire), due);  // arrive
  });
}

// On the leader, when all have arrived.
void compare_calls(const Team& team, const char* routine, const Arrival& own) {
  if (own.due == 0) return;
  if (team.central(team.me()).arrived.load(std::memory_order_relaxed) != own.due) [[unlikely]]
    report_mismatch(team, routine);
}

}  // namespace

Arrival arrive_on_node(Team& team) noexcept {
  const TeamNodes& nodes = nodes_of(team);
  const auto members = static_cast<std::uint64_t>(nodes.size_of(nodes.mine));
  if (members == 1) return {.is_last = true, .due = 0, .agrees = true};
  const std::uint64_t own = team.counted.enter(team.calls.digest);
  const std::uint64_t due = team.counted.due(members);
  // The counter is never reset. Nobody arrives for the next time before the leader has released all of this time.
  std::atomic<std::uint64_t>& counter = team.central(nodes.leader(nodes.mine)).arrived;
  const std::uint64_t arrived = counter.fetch_add(own, std::memory_order_acq_rel) + own;  // arrive
  return {.is_last = all_arrived(arrived, due), .due = due, .agrees = arrived == due};
}

void wake_leader(Team& team) noexcept {
  const TeamNodes& nodes = nodes_of(team);
  context::wake_heap(context::peer_heap(team.route, nodes.leader(nodes.mine)));
}

bool gather_at_leader(Team& team, const char* routine, std::uint64_t epoch) noexcept {
  const TeamNodes& nodes = nodes_of(team);
  const Arrival own = arrive_on_node(team);
  if (nodes.leads()) {
    if (!own.is_last) await_others(team, nodes, routine, own.due);
    compare_calls(team, routine, own);
    return true;
  }
  if (own.is_last) wake_leader(team);
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
