#include "api/active_set.hpp"

namespace shmemx::api {

coll::ActiveGroup active_group(const char* routine, const coll::ActiveSet& set) noexcept {
  const auto [start, log_stride, size, psync] = set;
  const Context& world = default_context();
  context::require_initialized(routine);
  const int n_pes = static_cast<int>(world.n_pes);
  if (start < 0 || start >= n_pes) bad_argument(routine, "PE_start", start, "the numbers of the PEs of the world");
  if (log_stride < 0 || log_stride > 30) bad_argument(routine, "logPE_stride", log_stride, "0..30");
  if (size < 1 || !world.set.subset(start, 1 << log_stride, size)) {
    bad_argument(routine, "PE_size", size, "numbers from 1 that keep the set within the world");
  }
  return {world, routine, team::PeSet(Pe{start}, 1 << log_stride, size), const_cast<long*>(psync)};
}

}  // namespace shmemx::api
