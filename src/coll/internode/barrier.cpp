#include "coll/internode/barrier.hpp"

#include <bit>

#include "coll/common/flags.hpp"
#include "coll/internode/first_round.hpp"

namespace shmemx::coll {
namespace {

// The partners of this leader in the round of this distance. In general it sets its flag on the leader that many nodes
// ahead and awaits the one as many behind. Where the number of nodes is a power of two, leaders exchange flags in
// pairs: a connection then carries flags both ways, which a network can acknowledge by the next one, and each leader
// has half as many connections.
bool pairs_up(const TeamNodes& nodes) { return std::has_single_bit(static_cast<unsigned>(nodes.count())); }
int next_node(const TeamNodes& nodes, int distance) {
  return pairs_up(nodes) ? nodes.mine ^ distance : nodes.ahead(distance);
}
int previous_node(const TeamNodes& nodes, int distance) {
  return pairs_up(nodes) ? nodes.mine ^ distance : nodes.behind(distance);
}
int next_leader(const TeamNodes& nodes, int distance) { return nodes.leader(next_node(nodes, distance)); }
int previous_leader(const TeamNodes& nodes, int distance) { return nodes.leader(previous_node(nodes, distance)); }

// The rounds behind the first one.
void disseminate(const Team& team, const TeamNodes& nodes, const char* routine, std::uint64_t epoch) {
  for (int distance = 2; distance < nodes.count(); distance *= 2) {
    set_flag(team, routine, next_leader(nodes, distance), epoch);
    await_flag(team, routine, previous_leader(nodes, distance), epoch);
  }
}

}  // namespace

void barrier_remote(Team& team, const char* routine) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const std::uint64_t epoch = ++team.epoch;
  const TeamNodes& nodes = nodes_of(team);
  if (nodes.count() == 1) {
    if (!gather_at_leader(team, routine, epoch)) return;
    return release_node(team, routine, epoch);
  }
  FirstRound round(team, routine, epoch);
  if (!round.gather([] {}, [&] { round.send(next_node(nodes, 1), {}); })) return;
  round.receive(previous_node(nodes, 1), 0);
  disseminate(team, nodes, routine, epoch);
  release_node(team, routine, epoch);
}

std::vector<int> awaiting_in_barrier(Team& team) {
  std::vector<int> members;
  if (team.direct) return members;
  const TeamNodes& nodes = nodes_of(team);
  if (!nodes.leads()) return members;
  for (int distance = 1; distance < nodes.count(); distance *= 2) members.push_back(next_leader(nodes, distance));
  return members;
}

}  // namespace shmemx::coll
