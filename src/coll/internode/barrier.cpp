#include "coll/internode/barrier.hpp"

#include "coll/common/flags.hpp"
#include "coll/internode/leaders.hpp"

namespace shmemx::coll {
namespace {

// In round k each leader sets its flag on the leader 2^k nodes ahead and waits for the one 2^k nodes behind.
void disseminate(const Team& team, const TeamNodes& nodes, const char* routine, std::uint64_t epoch) {
  for (int distance = 1; distance < nodes.count(); distance *= 2) {
    set_flag(team, routine, nodes.leader(nodes.ahead(distance)), epoch);
    await_flag(team, routine, nodes.leader(nodes.behind(distance)), epoch);
  }
}

}  // namespace

void barrier_remote(Team& team, const char* routine) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const std::uint64_t epoch = ++team.epoch;
  if (!gather_at_leader(team, routine, epoch)) return;
  disseminate(team, nodes_of(team), routine, epoch);
  release_node(team, routine, epoch);
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

}  // namespace shmemx::coll
