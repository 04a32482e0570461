#include "coll/leaders.hpp"

#include "am/channel.hpp"
#include "base/wait.hpp"
#include "context/route.hpp"

namespace shmemx::coll {
namespace {

void arrive(const Team& team, const TeamNodes& nodes) {
  const int leader = nodes.leader(nodes.mine);
  const auto others = static_cast<std::uint64_t>(nodes.size_of(nodes.mine)) - 1;
  // The count goes on from meeting to meeting; nobody comes to the next one before the leader has seen all of this.
  const std::uint64_t arrived = team.central(leader).arrived.fetch_add(1, std::memory_order_acq_rel) + 1;  // arrive
  if (arrived % others == 0) wake(context::doorbell_of_heap(context::peer_heap(team.route, leader)));
}

void await_others(Team& team, const TeamNodes& nodes, const char* routine) {
  const int others = nodes.size_of(nodes.mine) - 1;
  if (others == 0) return;
  team.arrivals_seen += static_cast<std::uint64_t>(others);
  const std::atomic<std::uint64_t>& arrived = team.central(team.me()).arrived;
  // One of them for all: they come by no message.
  am::wait_until(routine, context::world_pe(team.route, nodes.here().back()), [&] {
    return arrived.load(std::memory_order_acquire) >= team.arrivals_seen;  // arrive
  });
}

// Each leader tells the one 2^k nodes on, and waits for the one 2^k back.
void disseminate(const Team& team, const TeamNodes& nodes, const char* routine, std::uint64_t epoch) {
  for (int distance = 1; distance < nodes.count(); distance *= 2) {
    set_flag(team, routine, nodes.leader(nodes.ahead(distance)), epoch);
    await_flag(team, routine, nodes.leader(nodes.behind(distance)), epoch);
  }
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

std::vector<int> awaiting_in_barrier(Team& team) {
  std::vector<int> members;
  if (team.direct) return members;
  const TeamNodes& nodes = nodes_of(team);
  if (!nodes.leads()) return members;
  for (int distance = 1; distance < nodes.count(); distance *= 2)
    members.push_back(nodes.leader(nodes.ahead(distance)));
  return members;
}

void barrier_of_nodes(Team& team, const char* routine) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const std::uint64_t epoch = ++team.epoch;
  if (!gather_at_leader(team, routine, epoch)) return;
  disseminate(team, nodes_of(team), routine, epoch);
  release_node(team, routine, epoch);
}

}  // namespace shmemx::coll
