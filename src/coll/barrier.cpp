#include "coll/barrier.hpp"

#include "am/endpoint.hpp"
#include "check/blocks.hpp"
#include "check/checks.hpp"
#include "coll/common/select.hpp"
#include "coll/internode/barrier.hpp"
#include "coll/node/barrier.hpp"

namespace shmemx::coll {

void barrier(Team& team, const char* routine) noexcept {
  am::order_for_sanitizer();
  if (check::is_on()) [[unlikely]]
    check::verify(routine, check::Extent::some);
  if (team.size() == 1) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  } else if (!team.direct) {
    barrier_remote(team, routine);
  } else if (team.counting && takes_tree(team.size(), true)) {
    barrier_tree(team, routine);
  } else if (team.counting) {
    barrier_counting(team, routine);
  } else {
    barrier_dissemination(team, routine);
  }
  am::order_for_sanitizer();
}

}  // namespace shmemx::coll
