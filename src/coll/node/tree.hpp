// The combining tree of a team whose members all map each other's memory: all members meet, contributions are combined
// on the way up, results handed on on the way down.
//
// At level l the members whose numbers are multiples of R^l meet in groups of R (the radix), at the first one of each
// group. The last to arrive at a group combines what its members have, in the order of their numbers, and goes on for
// all of them, so nobody waits on the way up. On the way down each member waits for one word in its own slot; then it
// releases those that are first of a group below it. A member is woken once, and it touches memory of its group's first
// member, and of those that it combines or releases: O(R log n) others. Nobody touches the slot of a member that has
// been released, so a slot may be used again as soon as its owner has left.
//
// Edge:  arrive  arrived.fetch_add -> the last one's fetch_add; released.store -> released.load    all stores of the
//                members that have arrived; all stores of those on the way down
#pragma once

#include "coll/common/matching.hpp"
#include "coll/common/select.hpp"
#include "coll/common/team.hpp"
#include "context/route.hpp"

namespace shmemx::coll {

// Members that meet at one place: first, first + step, ..., `count` of them. Each stands for the `step` members from
// its own number on, the last one for fewer.
struct TreeGroup {
  int first;
  int step;
  int count;
  int level;
  constexpr int member(int index) const noexcept { return first + index * step; }
};
constexpr TreeGroup tree_group(int n, int pe, int step, int level) noexcept {
  const int first = pe - pe % (step * kTreeRadix);
  const int present = (n - first + step - 1) / step;
  return {first, step, present < kTreeRadix ? present : kTreeRadix, level};
}
// Returns the group of `n` members at which all meet.
constexpr TreeGroup tree_root(int n) noexcept {
  int step = 1;
  int level = 0;
  for (; step * kTreeRadix < n; step *= kTreeRadix) ++level;
  return tree_group(n, 0, step, level);
}

inline void release_member(const Team& team, int pe, std::uint64_t pass) noexcept {
  team.tree(pe).released.store(pass, std::memory_order_release);  // arrive
  // Edge asleep, exactly: no wake-up may be missed, since the bounded sleeps are long here.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  context::wake_heap(context::peer_heap(team.route, pe));
}

// Goes up. combine(group) runs on the last to arrive at each group. Returns true on the last of all.
template <class Combine>
inline bool climb_tree(Team& team, const char* routine, const Combine& combine) noexcept {
  const std::uint64_t own = team.climbed.enter(team.calls.digest);
  int level = 0;
  for (int step = 1; step < team.size(); step *= kTreeRadix) {
    const TreeGroup group = tree_group(team.size(), team.me(), step, level);
    std::atomic<std::uint64_t>& arrived = team.tree(group.first).arrived[level++];
    const std::uint64_t due = team.climbed.due(static_cast<std::uint64_t>(group.count));
    const std::uint64_t now = arrived.fetch_add(own, std::memory_order_acq_rel) + own;  // arrive
    if (!all_arrived(now, due)) return false;
    if (now != due) [[unlikely]]
      report_mismatch(team, routine);
    combine(group);
  }
  return true;
}

// Goes down. push(group, i) runs before member i of the group is released, on the group's first member, for i from 1
// on. `last`: from climb_tree().
template <class Push>
inline void descend_tree(Team& team, const char* routine, bool last, const Push& push) noexcept {
  const std::uint64_t pass = team.climbed.turns;
  const int n = team.size();
  const int me = team.me();
  if (last && me != 0) release_member(team, 0, pass);
  if (!last || me != 0) {
    const std::atomic<std::uint64_t>& released = team.tree(me).released;
    const int other = context::world_pe(team.route, me == 0 ? 1 : 0);
    wait_for_member(team, routine, other, [&] { return released.load(std::memory_order_acquire) >= pass; });  // arrive
  }
  TreeGroup group = tree_root(n);
  for (int step = group.step, level = group.level; step != 0; step /= kTreeRadix, --level) {
    group = tree_group(n, me, step, level);
    if (group.first != me) continue;
    for (int i = 1; i < group.count; ++i) {
      push(group, i);
      release_member(team, group.member(i), pass);
    }
  }
}

}  // namespace shmemx::coll
