#include "api/active_set.hpp"

#include "check/owners.hpp"
#include "stats/span.hpp"

namespace shmemx::api {
namespace {

// Checks the three numbers of an active set and makes its group.
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

// Calls use(group) with what collectives need of an active set: its team, or a group of its own if it has none.
template <class Use>
void with_active_group(const char* routine, const coll::ActiveSet& set, const Use& use) noexcept {
  const stats::RoutineSpan span(routine, stats::Family::collective);
  coll::Team* team = coll::find_active_team(set);
  if (team == nullptr) [[unlikely]] {
    coll::ActiveGroup group = active_group(routine, set);
    team = coll::make_active_team(group, set);
    if (team == nullptr) return use(group);
  }
  coll::TeamGroup group(*team, routine);
  const check::TeamUse team_use(team->route.team_index, routine);
  use(group);
}

}  // namespace

void active_sync(const char* routine, coll::CallFamily family, const coll::ActiveSet& set) noexcept {
  with_active_group(routine, set, [family](auto& group) {
    group.begin(coll::call_word(family));
    group.sync();
  });
}

void active_alltoall(TypedRoutine routine, void* dest, const void* source, std::size_t nelems, int start,
                     int log_stride, int size, long* psync) noexcept {
  with_active_group(routine.name, {start, log_stride, size, psync},
                    [&](auto& group) { alltoall_on(group, dest, source, nelems, routine.element_bytes); });
}

void active_alltoalls(TypedRoutine routine, void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst,
                      std::size_t nelems, int start, int log_stride, int size, long* psync) noexcept {
  with_active_group(routine.name, {start, log_stride, size, psync},
                    [&](auto& group) { alltoalls_on(group, dest, source, dst, sst, nelems, routine.element_bytes); });
}

void active_broadcast_from(const void* site, TypedRoutine routine, void* dest, const void* source, std::size_t nelems,
                           int root, const coll::ActiveSet& set) noexcept {
  with_active_group(routine.name, set, [&](auto& group) {
    check_root(routine.name, "PE_root", root, set.size);
    const CollectiveBuffers buffers =
        checked_buffers(group, dest, nelems, source, nelems, routine.element_bytes, check::SameArray::allowed);
    group.begin_passed(coll::call_word(coll::kind_of(coll::CallFamily::broadcast, routine.element_bytes), nelems, root),
                       site);
    coll::broadcast(group, buffers.dest, buffers.source, nelems * routine.element_bytes, root, coll::RootDest::kept);
  });
}

void active_collect(TypedRoutine routine, void* dest, const void* source, std::size_t nelems, int start, int log_stride,
                    int size, long* psync) noexcept {
  with_active_group(routine.name, {start, log_stride, size, psync},
                    [&](auto& group) { collect_on(group, dest, source, nelems, routine.element_bytes); });
}

void active_fcollect(TypedRoutine routine, void* dest, const void* source, std::size_t nelems, int start,
                     int log_stride, int size, long* psync) noexcept {
  with_active_group(routine.name, {start, log_stride, size, psync},
                    [&](auto& group) { fcollect_on(group, dest, source, nelems, routine.element_bytes); });
}

void active_combine(const char* routine, void* dest, const void* source, int nreduce, const coll::ActiveSet& set,
                    const coll::Combine& combine) noexcept {
  with_active_group(routine, set, [&](auto& group) {
    if (nreduce < 0) bad_argument(routine, "nreduce", nreduce, "numbers from 0");
    reduce_on(group, dest, source, static_cast<std::size_t>(nreduce), combine);
  });
}

}  // namespace shmemx::api
