// The deprecated collectives on active sets: those of the teams that the sets get at their first collective. pWrk is
// not used.
#pragma once

#include "api/coll.hpp"
#include "coll/active_set/teams.hpp"

namespace shmemx::api {

// Checks the three numbers of an active set and makes its group.
coll::ActiveGroup active_group(const char* routine, const coll::ActiveSet& set) noexcept;

// Calls use(group) with what collectives need of an active set: its team, or a group of its own if it has none.
template <class Use>
inline void with_active_group(const char* routine, const coll::ActiveSet& set, const Use& use) noexcept {
  coll::Team* team = coll::find_active_team(set);
  if (team == nullptr) [[unlikely]] {
    coll::ActiveGroup group = active_group(routine, set);
    team = coll::make_active_team(group, set);
    if (team == nullptr) return use(group);
  }
  coll::TeamGroup group(*team, routine);
  use(group);
}

template <class T>
inline void active_alltoall(const char* routine, void* dest, const void* source, std::size_t nelems, int start,
                            int log_stride, int size, long* psync) noexcept {
  with_active_group(routine, {start, log_stride, size, psync}, [&](auto& group) {
    const std::size_t all = times(routine, nelems, size);
    const CollectiveBuffers buffers = checked_buffers<T>(group, dest, all, source, all);
    coll::alltoall(group, buffers.dest, buffers.source, nelems * sizeof(T));
  });
}

template <class T>
inline void active_alltoalls(const char* routine, void* dest, const void* source, std::ptrdiff_t dst,
                             std::ptrdiff_t sst, std::size_t nelems, int start, int log_stride, int size,
                             long* psync) noexcept {
  with_active_group(routine, {start, log_stride, size, psync},
                    [&](auto& group) { alltoalls_on<T>(group, dest, source, dst, sst, nelems); });
}

template <class T>
inline void active_broadcast(const char* routine, void* dest, const void* source, std::size_t nelems, int root,
                             int start, int log_stride, int size, long* psync) noexcept {
  with_active_group(routine, {start, log_stride, size, psync}, [&](auto& group) {
    check_root(routine, "PE_root", root, size);
    const CollectiveBuffers buffers = checked_buffers<T>(group, dest, nelems, source, nelems);
    coll::broadcast(group, buffers.dest, buffers.source, nelems * sizeof(T), root, coll::RootDest::kept);
  });
}

template <class T>
inline void active_collect(const char* routine, void* dest, const void* source, std::size_t nelems, int start,
                           int log_stride, int size, long* psync) noexcept {
  with_active_group(routine, {start, log_stride, size, psync},
                    [&](auto& group) { collect_on<T>(group, dest, source, nelems); });
}

template <class T>
inline void active_fcollect(const char* routine, void* dest, const void* source, std::size_t nelems, int start,
                            int log_stride, int size, long* psync) noexcept {
  with_active_group(routine, {start, log_stride, size, psync}, [&](auto& group) {
    const CollectiveBuffers buffers = checked_buffers<T>(group, dest, times(routine, nelems, size), source, nelems);
    coll::fcollect(group, buffers.dest, buffers.source, nelems * sizeof(T));
  });
}

template <class T, class Op>
inline void active_reduce(const char* routine, T* dest, const T* source, int nreduce, int start, int log_stride,
                          int size, T* /*pwrk*/, long* psync) noexcept {
  with_active_group(routine, {start, log_stride, size, psync}, [&](auto& group) {
    if (nreduce < 0) bad_argument(routine, "nreduce", nreduce, "numbers from 0");
    reduce_on<T, Op>(group, dest, source, static_cast<std::size_t>(nreduce));
  });
}

}  // namespace shmemx::api
