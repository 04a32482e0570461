// Threads as the PEs of nodes in one process: how many, how they wait, and how their failures are counted.
#pragma once

#include <atomic>

#include "coll/common/team.hpp"
#include "support/node.hpp"
#include "support/waiting.hpp"

namespace shmemx::unit {

inline constexpr int kPeCounts[] = {1, 2, 3, 8};
// More than cores, for combining trees of two levels whose last group has one member or more; more than kManyPes.
inline constexpr int kTreePeCounts[] = {33, 45, 70};
// Fewer, for the same functions called directly.
inline constexpr int kSmallTreePeCounts[] = {2, 5, 7, 13, 17};

// Rounds of a test: thousands in all. Fewer with many PEs, since each round costs each PE a turn on a core.
constexpr int rounds(int n_pes) { return 1500 / n_pes; }

// There are more threads than cores: yield at once. Where another program computes, a yield costs a time slice of it,
// so the PEs sleep there; one doorbell that nobody rings serves them all, and each wakes after the shortest sleep.
inline WaitSettings oversubscribed_policy() {
  static Doorbell nobody_rings{};
  WaitSettings policy;
  policy.bare_polls = 4;
  policy.pause_polls = 0;
  policy.sleep.max_ns = 50'000;
  policy.crowded = true;
  policy.own_doorbell = &nobody_rings;
  return policy;
}

// Boost.Test's macros may be used on the main thread only, so the PEs count failures here.
class Failures {
 public:
  void expect(bool right) noexcept {
    if (!right) count_.fetch_add(1, std::memory_order_relaxed);
  }
  int count() const noexcept { return count_.load(); }

 private:
  std::atomic<int> count_{0};
};

// Calls run(node, counting) for each number of PEs and both barriers.
template <class Run>
void for_each_node(const Run& run) {
  const WaitingGuard guard(oversubscribed_policy());
  for (const int n_pes : kPeCounts) {
    const Node node(n_pes);
    run(node, false);
    const Node fresh(n_pes);  // a team keeps its kind of barrier
    run(fresh, true);
  }
}

// Calls run(node, true) for numbers of PEs that take the combining tree.
template <class Run>
void for_each_tree(const Run& run) {
  const WaitingGuard guard(oversubscribed_policy());
  for (const int n_pes : kTreePeCounts) run(Node(n_pes), true);
}

}  // namespace shmemx::unit
