// The members of a node meet at their leader, the leaders disseminate. Members of one node alone disseminate.
#include <new>

#include "coll/background/levels.hpp"
#include "coll/background/schedule.hpp"

namespace shmemx::coll::background {
namespace {

// `pe_of(i)`: the i-th of `n`.
template <class PeOf>
void disseminate(ListedSchedule& schedule, int mine, int n, const PeOf& pe_of) {
  for (long distance = 1; distance < n; distance *= 2) {
    Round& round = schedule.add();
    round.signal(pe_of(static_cast<int>((mine + distance) % n)));
    round.await(pe_of(static_cast<int>((mine - distance + n) % n)));
  }
}

}  // namespace

ScheduleOwner make_barrier(const Members& members) noexcept {
  auto schedule = std::make_unique<ListedSchedule>();
  const TeamNodes& nodes = *members.nodes;
  if (nodes.count() == 1) {
    const NodeMembers here = nodes.here();
    disseminate(*schedule, nodes.index, static_cast<int>(here.size()),
                [&](int i) { return here[static_cast<std::size_t>(i)]; });
    return schedule;
  }
  const NodeMembers here = nodes.here();
  if (!nodes.leads()) {
    schedule->add().signal(here[0]);
    schedule->add().await(here[0]);
    return schedule;
  }
  Round& arrivals = schedule->add();
  for (const int pe : here.subspan(1)) arrivals.await(pe);
  disseminate(*schedule, nodes.mine, nodes.count(), [&](int node) { return nodes.leader(node); });
  Round& release = schedule->add();
  for (const int pe : here.subspan(1)) release.signal(pe);
  return schedule;
}

}  // namespace shmemx::coll::background
