#include "coll/barrier.hpp"

#include "am/channel.hpp"
#include "base/wait.hpp"
#include "coll/leaders.hpp"
#include "coll/ticks.hpp"
#include "context/route.hpp"

namespace shmemx::coll {
namespace {

Doorbell& doorbell_of(const Team& team, int pe) {
  return context::doorbell_of_heap(context::peer_heap(team.route, pe));
}

void disseminate(Team& team, const char* routine) {
  const int n = team.size();
  const int me = team.me();
  const std::uint64_t tick = ++team.ticks;
  for (int distance = 1; distance < n; distance *= 2) {
    const int to = me + distance < n ? me + distance : me + distance - n;
    const int from = me >= distance ? me - distance : me - distance + n;
    signal_tick(team, routine, to, tick);
    await_tick(team, routine, from, tick);
  }
}

void count_in(Team& team, const char* routine) {
  CountingBarrier& central = team.central();
  const auto n = static_cast<std::uint64_t>(team.size());
  const std::uint64_t turn = ++team.counted;
  ++team.ticks;
  if (central.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == turn * n) {  // arrive
    central.released.store(turn, std::memory_order_release);                      // arrive
    for (int pe = 0; pe < team.size(); ++pe) {
      if (pe != team.me()) wake(doorbell_of(team, pe));
    }
    return;
  }
  wait_for(routine, [&] { return central.released.load(std::memory_order_acquire) >= turn; });  // arrive
}

}  // namespace

void signal_tick(const Team& team, const char* routine, int pe, std::uint64_t tick) noexcept {
  if (!context::is_mapped(team.route, pe)) [[unlikely]]
    return send_tick(team, routine, pe, tick);
  team.arrival(pe, team.me()).tick.store(tick, std::memory_order_release);  // arrive
  wake(doorbell_of(team, pe));
}

void await_tick(const Team& team, const char* routine, int pe, std::uint64_t tick) noexcept {
  const ArrivalLine& line = team.arrival(team.me(), pe);
  const auto has_come = [&] { return line.tick.load(std::memory_order_acquire) >= tick; };  // arrive
  if (!context::all_mapped) [[unlikely]]
    return am::wait_until(routine, context::world_pe(team.route, pe), has_come);
  wait_for(routine, has_come);
}

void barrier(Team& team, const char* routine) noexcept {
  am::order_for_sanitizer();
  if (team.size() == 1) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  } else if (!team.direct) {
    barrier_of_nodes(team, routine);
  } else if (team.counting) {
    count_in(team, routine);
  } else {
    disseminate(team, routine);
  }
  am::order_for_sanitizer();
}

}  // namespace shmemx::coll
