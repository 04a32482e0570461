// Threads that play the PEs of hand-made nodes: how many, how they wait, and how their complaints are counted.
#pragma once

#include <atomic>

#include "coll/common/team.hpp"
#include "support/node.hpp"
#include "support/waiting.hpp"

namespace shmemx::unit {

inline constexpr int kPeCounts[] = {1, 2, 3, 8};

// Rounds of a test: thousands in all. Few with many PEs, since each round costs each PE a turn on a core.
constexpr int rounds(int n_pes) { return 1500 / n_pes; }

// Threads outnumber cores: yield at once.
inline WaitSettings crowded_policy() {
  WaitSettings policy;
  policy.bare_polls = 4;
  policy.pause_polls = 0;
  return policy;
}

// Boost.Test's macros belong to the main thread; the PEs count what is wrong.
class Complaints {
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
void for_each_crowd(const Run& run) {
  const WaitingGuard guard(crowded_policy());
  for (const int n_pes : kPeCounts) {
    const Node node(n_pes);
    run(node, false);
    const Node fresh(n_pes);  // a team has one kind of barrier for life
    run(fresh, true);
  }
}

}  // namespace shmemx::unit
