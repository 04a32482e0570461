// The deprecated collectives on active sets: the algorithms of the teams, synchronised through the caller's pSync
// array. pWrk is not used.
#pragma once

#include "api/coll.hpp"

namespace shmemx::api {

// Checks the three numbers of an active set and makes its group.
coll::ActiveGroup active_group(const char* routine, int start, int log_stride, int size, long* psync) noexcept;

template <class T>
inline void active_alltoall(const char* routine, void* dest, const void* source, std::size_t nelems, int start,
                            int log_stride, int size, long* psync) noexcept {
  coll::ActiveGroup group = active_group(routine, start, log_stride, size, psync);
  const std::size_t all = times(routine, nelems, size);
  const CollectiveBuffers buffers = checked_buffers<T>(group, dest, all, source, all);
  coll::alltoall(group, buffers.dest, buffers.source, nelems * sizeof(T));
}

template <class T>
inline void active_alltoalls(const char* routine, void* dest, const void* source, std::ptrdiff_t dst,
                             std::ptrdiff_t sst, std::size_t nelems, int start, int log_stride, int size,
                             long* psync) noexcept {
  coll::ActiveGroup group = active_group(routine, start, log_stride, size, psync);
  alltoalls_on<T>(group, dest, source, dst, sst, nelems);
}

template <class T>
inline void active_broadcast(const char* routine, void* dest, const void* source, std::size_t nelems, int root,
                             int start, int log_stride, int size, long* psync) noexcept {
  coll::ActiveGroup group = active_group(routine, start, log_stride, size, psync);
  check_root(routine, "PE_root", root, size);
  const CollectiveBuffers buffers = checked_buffers<T>(group, dest, nelems, source, nelems);
  coll::broadcast(group, buffers.dest, buffers.source, nelems * sizeof(T), root);
}

template <class T>
inline void active_collect(const char* routine, void* dest, const void* source, std::size_t nelems, int start,
                           int log_stride, int size, long* psync) noexcept {
  coll::ActiveGroup group = active_group(routine, start, log_stride, size, psync);
  collect_on<T>(group, dest, source, nelems);
}

template <class T>
inline void active_fcollect(const char* routine, void* dest, const void* source, std::size_t nelems, int start,
                            int log_stride, int size, long* psync) noexcept {
  coll::ActiveGroup group = active_group(routine, start, log_stride, size, psync);
  const CollectiveBuffers buffers = checked_buffers<T>(group, dest, times(routine, nelems, size), source, nelems);
  coll::fcollect(group, buffers.dest, buffers.source, nelems * sizeof(T));
}

template <class T, class Op>
inline void active_reduce(const char* routine, T* dest, const T* source, int nreduce, int start, int log_stride,
                          int size, T* /*pwrk*/, long* psync) noexcept {
  coll::ActiveGroup group = active_group(routine, start, log_stride, size, psync);
  if (nreduce < 0) bad_argument(routine, "nreduce", nreduce, "numbers from 0");
  reduce_on<T, Op>(group, dest, source, static_cast<std::size_t>(nreduce));
}

}  // namespace shmemx::api
