#include "api/coll.hpp"

#include "check/owners.hpp"
#include "stats/span.hpp"

namespace shmemx::api {

int alltoall(TypedRoutine routine, shmem_team_t team, void* dest, const void* source, std::size_t nelems) noexcept {
  const stats::RoutineSpan span(routine.name, stats::Family::collective, nelems * routine.element_bytes);
  coll::TeamGroup group(checked_team(team, routine.name), routine.name);
  const check::TeamUse use(group.team().route.team_index, routine.name);
  alltoall_on(group, dest, source, nelems, routine.element_bytes);
  return 0;
}

int alltoalls(TypedRoutine routine, shmem_team_t team, void* dest, const void* source, std::ptrdiff_t dst,
              std::ptrdiff_t sst, std::size_t nelems) noexcept {
  const stats::RoutineSpan span(routine.name, stats::Family::collective, nelems * routine.element_bytes);
  coll::TeamGroup group(checked_team(team, routine.name), routine.name);
  const check::TeamUse use(group.team().route.team_index, routine.name);
  alltoalls_on(group, dest, source, dst, sst, nelems, routine.element_bytes);
  return 0;
}

int broadcast_from(const void* site, TypedRoutine routine, shmem_team_t team, void* dest, const void* source,
                   std::size_t nelems, int root) noexcept {
  const stats::RoutineSpan span(routine.name, stats::Family::collective, nelems * routine.element_bytes);
  coll::TeamGroup group(checked_team(team, routine.name), routine.name);
  const check::TeamUse use(group.team().route.team_index, routine.name);
  check_root(routine.name, "PE_root", root, group.size());
  // In place it works, and programs rely on that.
  const CollectiveBuffers buffers =
      checked_buffers(group, dest, nelems, source, nelems, routine.element_bytes, check::SameArray::allowed);
  group.begin_passed(coll::call_word(coll::kind_of(coll::CallFamily::broadcast, routine.element_bytes), nelems, root),
                     site);
  coll::broadcast(group, buffers.dest, buffers.source, nelems * routine.element_bytes, root);
  return 0;
}

int collect(TypedRoutine routine, shmem_team_t team, void* dest, const void* source, std::size_t nelems) noexcept {
  const stats::RoutineSpan span(routine.name, stats::Family::collective, nelems * routine.element_bytes);
  coll::TeamGroup group(checked_team(team, routine.name), routine.name);
  const check::TeamUse use(group.team().route.team_index, routine.name);
  collect_on(group, dest, source, nelems, routine.element_bytes);
  return 0;
}

int fcollect(TypedRoutine routine, shmem_team_t team, void* dest, const void* source, std::size_t nelems) noexcept {
  const stats::RoutineSpan span(routine.name, stats::Family::collective, nelems * routine.element_bytes);
  coll::TeamGroup group(checked_team(team, routine.name), routine.name);
  const check::TeamUse use(group.team().route.team_index, routine.name);
  fcollect_on(group, dest, source, nelems, routine.element_bytes);
  return 0;
}

int combine(const char* routine, shmem_team_t team, void* dest, const void* source, std::size_t nreduce,
            const coll::Combine& combine) noexcept {
  const stats::RoutineSpan span(routine, stats::Family::collective, nreduce * combine.element_bytes);
  coll::TeamGroup group(checked_team(team, routine), routine);
  const check::TeamUse use(group.team().route.team_index, routine);
  reduce_on(group, dest, source, nreduce, combine);
  return 0;
}

int combine(const char* routine, shmem_team_t team, void* dest, const void* source, std::size_t nelems,
            const coll::Scan& scan) noexcept {
  const stats::RoutineSpan span(routine, stats::Family::collective, nelems * scan.sum.element_bytes);
  coll::TeamGroup group(checked_team(team, routine), routine);
  const check::TeamUse use(group.team().route.team_index, routine);
  const CollectiveBuffers buffers =
      checked_buffers(group, dest, nelems, source, nelems, scan.sum.element_bytes, check::SameArray::allowed);
  group.begin(coll::call_word(scan.kind(), nelems));
  coll::scan(group, buffers.dest, buffers.source, nelems, scan);
  return 0;
}

}  // namespace shmemx::api
