#include "coll/node/barrier.hpp"

#include "coll/common/flags.hpp"
#include "coll/common/matching.hpp"
#include "coll/node/tree.hpp"

namespace shmemx::coll {
namespace {

// In a direct team, whose members find each other's by their numbers.
Flag& direct_flag(const Team& team, int owner, int writer) {
  std::byte* const slot = team.near_slot + static_cast<std::int64_t>(owner) * team.route.pe_step;
  return reinterpret_cast<Flag*>(slot)[writer];
}

}  // namespace

// The team is direct.
void barrier_dissemination(Team& team, const char* routine) noexcept {
  const int n = team.size();
  const int me = team.me();
  const std::uint64_t epoch = ++team.epoch;
  const std::uint64_t tag = tag_of(team, epoch);
  for (int distance = 1; distance < n; distance *= 2) {
    const int ahead = me + distance < n ? me + distance : me + distance - n;
    const int behind = me >= distance ? me - distance : me - distance + n;
    store_flag(direct_flag(team, ahead, me), epoch, tag);
    context::wake_heap(context::peer_heap(team.route, ahead));
    if (direct_flag(team, me, behind).tag.load(std::memory_order_acquire) != tag)  // arrive
      await_flag(team, routine, behind, epoch);
  }
}

void barrier_counting(Team& team, const char* routine) noexcept {
  CountingBarrier& central = team.central();
  const auto n = static_cast<std::uint64_t>(team.size());
  const std::uint64_t own = team.counted.enter(team.calls.digest);
  const std::uint64_t turn = team.counted.turns;
  const std::uint64_t due = team.counted.due(n);
  ++team.epoch;
  const std::uint64_t arrived = central.arrived.fetch_add(own, std::memory_order_acq_rel) + own;  // arrive
  if (all_arrived(arrived, due)) {
    if (arrived != due) [[unlikely]]
      report_mismatch(team, routine);
    central.released.store(turn, std::memory_order_release);  // arrive
    for (int pe = 0; pe < team.size(); ++pe) {
      if (pe != team.me()) context::wake_heap(context::peer_heap(team.route, pe));
    }
    return;
  }
  const int other = context::world_pe(team.route, team.me() == 0 ? 1 : 0);
  wait_for_member(team, routine, other,
                  [&] { return central.released.load(std::memory_order_acquire) >= turn; });  // arrive
}

void barrier_tree(Team& team, const char* routine) noexcept {
  ++team.epoch;
  const bool last = climb_tree(team, routine, [](const TreeGroup&) {});
  descend_tree(team, routine, last, [](const TreeGroup&, int) {});
}

}  // namespace shmemx::coll
