#include "coll/internode/leaders.hpp"

#include "am/endpoint.hpp"
#include "coll/common/flags.hpp"
#include "coll/common/matching.hpp"
#include "coll/common/select.hpp"

namespace shmemx::coll {
namespace {

void wake_leader(const Team& team, const TeamNodes& nodes) {
  context::wake_heap(context::peer_heap(team.route, nodes.leader(nodes.mine)));
}

// On the leader.
void await_others(const Team& team, const TeamNodes& nodes, const char* routine, std::uint64_t due) {
  const std::atomic<std::uint64_t>& arrived = team.central(team.me()).arrived;
  // Node peers signal through memory, so any of them can stand for the expected PE.
  wait_for_member(team, routine, context::world_pe(team.route, nodes.here().back()), [&] {
    return all_arrived(arrived.load(std::memory_order_seq_cst), due);  // arrive, signalled
  });
}

struct Arrival {
  bool is_last;
  std::uint64_t due;  // what the counter shows when all have arrived
  bool agrees;        // the last one: all have made the same calls
};
Arrival arrive_on_node(Team& team, const TeamNodes& nodes) {
  const auto members = static_cast<std::uint64_t>(nodes.size_of(nodes.mine));
  if (members == 1) return {.is_last = true, .due = 0, .agrees = true};
  const std::uint64_t own = team.counted.enter(team.calls.digest);
  const std::uint64_t due = team.counted.due(members);
  // The counter is never reset. Nobody arrives for the next time before the leader has released all of this time.
  std::atomic<std::uint64_t>& counter = team.central(nodes.leader(nodes.mine)).arrived;
  const std::uint64_t arrived = counter.fetch_add(own, std::memory_order_seq_cst) + own;  // arrive, signalled
  return {.is_last = all_arrived(arrived, due), .due = due, .agrees = arrived == due};
}

// On the leader, when all have arrived.
void compare_calls(const Team& team, const char* routine, const Arrival& own) {
  if (own.due == 0) return;
  if (team.central(team.me()).arrived.load(std::memory_order_relaxed) != own.due) [[unlikely]]
    report_mismatch(team, routine);
}

// On the leader. Returns when all have arrived, and the signal of another node, or if members have made other calls.
void await_all_and_signal(const Team& team, const char* routine, std::uint64_t epoch, int from, const Arrival& own) {
  await_node_signal(team, routine, from, epoch, [&](bool has_signal) {
    if (own.is_last) return has_signal || !own.agrees;
    CountingBarrier& central = team.central(team.me());
    if (has_signal) central.released.store(epoch, std::memory_order_seq_cst);       // signalled
    const std::uint64_t arrived = central.arrived.load(std::memory_order_seq_cst);  // arrive, signalled
    return all_arrived(arrived, own.due) && (has_signal || arrived != own.due);
  });
}

// Returns whether the last member to arrive on that node signals; else the leader sets its flag. Where only calls make
// progress it does not: a signal that waits for a connection would stay when its sender leaves the barrier, while a
// leader waits for its counterpart.
bool last_member_signals(const TeamNodes& nodes, int node) {
  return nodes.size_of(node) > 1 && nodes.size_of(node) <= kMostSignalling && !context::calls_make_progress;
}

// On the leader of a node whose last member signals.
void await_all_and_node(Team& team, const char* routine, std::uint64_t epoch, int from, const Arrival& own) {
  const TeamNodes& nodes = nodes_of(team);
  const int leader = nodes.leader(from);
  if (last_member_signals(nodes, from)) return await_all_and_signal(team, routine, epoch, leader, own);
  team.central(team.me()).released.store(epoch, std::memory_order_seq_cst);  // signalled
  if (!own.is_last) await_others(team, nodes, routine, own.due);
  await_flag(team, routine, leader, epoch);
}

// On the leader of another node.
void await_node(const Team& team, const TeamNodes& nodes, const char* routine, std::uint64_t epoch, int from) {
  const int leader = nodes.leader(from);
  if (!last_member_signals(nodes, from)) return await_flag(team, routine, leader, epoch);
  await_node_signal(team, routine, leader, epoch, [](bool has_signal) { return has_signal; });
}

}  // namespace

bool gather_at_leader(Team& team, const char* routine, std::uint64_t epoch) noexcept {
  const TeamNodes& nodes = nodes_of(team);
  const Arrival own = arrive_on_node(team, nodes);
  if (nodes.leads()) {
    if (!own.is_last) await_others(team, nodes, routine, own.due);
    compare_calls(team, routine, own);
    return true;
  }
  if (own.is_last) wake_leader(team, nodes);
  await_flag(team, routine, nodes.leader(nodes.mine), epoch);
  return false;
}

bool gather_and_signal(Team& team, const char* routine, std::uint64_t epoch, const NodePair& pair) noexcept {
  const TeamNodes& nodes = nodes_of(team);
  const int leader = nodes.leader(nodes.mine);
  if (!last_member_signals(nodes, nodes.mine)) {
    if (!gather_at_leader(team, routine, epoch)) return false;
    set_flag(team, routine, nodes.leader(pair.to), epoch);
    await_node(team, nodes, routine, epoch, pair.from);
    return true;
  }
  const Arrival own = arrive_on_node(team, nodes);
  if (own.is_last && own.agrees) send_node_signal(team, routine, nodes.leader(pair.to), epoch);
  if (nodes.leads()) {
    await_all_and_node(team, routine, epoch, pair.from, own);
    compare_calls(team, routine, own);
    return true;
  }
  if (own.is_last) {
    const bool is_awaited = team.central(leader).released.load(std::memory_order_seq_cst) == epoch;  // signalled
    if (is_awaited || !own.agrees) wake_leader(team, nodes);
  }
  await_flag(team, routine, leader, epoch);
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
