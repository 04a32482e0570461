#include "coll/barrier.hpp"

#include "am/channel.hpp"
#include "base/wait.hpp"
#include "coll/flags.hpp"
#include "coll/leaders.hpp"
#include "context/route.hpp"

namespace shmemx::coll {
namespace {

Doorbell& doorbell_of(const Team& team, int pe) {
  return context::doorbell_of_heap(context::peer_heap(team.route, pe));
}

void disseminate(Team& team, const char* routine) {
  const int n = team.size();
  const int me = team.me();
  const std::uint64_t epoch = ++team.epoch;
  for (int distance = 1; distance < n; distance *= 2) {
    const int to = me + distance < n ? me + distance : me + distance - n;
    const int from = me >= distance ? me - distance : me - distance + n;
    set_flag(team, routine, to, epoch);
    await_flag(team, routine, from, epoch);
  }
}

void count_in(Team& team, const char* routine) {
  CountingBarrier& central = team.central();
  const auto n = static_cast<std::uint64_t>(team.size());
  const std::uint64_t turn = ++team.counted;
  ++team.epoch;
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

void set_flag(const Team& team, const char* routine, int pe, std::uint64_t epoch) noexcept {
  if (!context::is_mapped(team.route, pe)) [[unlikely]]
    return send_flag(team, routine, pe, epoch);
  team.flag(pe, team.me()).epoch.store(epoch, std::memory_order_release);  // arrive
  wake(doorbell_of(team, pe));
}

void await_flag(const Team& team, const char* routine, int pe, std::uint64_t epoch) noexcept {
  const Flag& line = team.flag(team.me(), pe);
  const auto has_come = [&] { return line.epoch.load(std::memory_order_acquire) >= epoch; };  // arrive
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
