// The deprecated collectives on active sets: those of the teams that the sets get at their first collective. pWrk is
// not used.
#pragma once

#include "api/coll.hpp"
#include "coll/active_set/teams.hpp"

namespace shmemx::api {

void active_alltoall(TypedRoutine routine, void* dest, const void* source, std::size_t nelems, int start,
                     int log_stride, int size, long* psync) noexcept;
void active_alltoalls(TypedRoutine routine, void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst,
                      std::size_t nelems, int start, int log_stride, int size, long* psync) noexcept;
void active_broadcast_from(const void* site, TypedRoutine routine, void* dest, const void* source, std::size_t nelems,
                           int root, const coll::ActiveSet& set) noexcept;
// In the entry point, which knows where it returns to.
[[gnu::always_inline]] inline void active_broadcast(TypedRoutine routine, void* dest, const void* source,
                                                    std::size_t nelems, int root, int start, int log_stride, int size,
                                                    long* psync) noexcept {
  active_broadcast_from(__builtin_return_address(0), routine, dest, source, nelems, root,
                        {start, log_stride, size, psync});
}
void active_collect(TypedRoutine routine, void* dest, const void* source, std::size_t nelems, int start, int log_stride,
                    int size, long* psync) noexcept;
void active_fcollect(TypedRoutine routine, void* dest, const void* source, std::size_t nelems, int start,
                     int log_stride, int size, long* psync) noexcept;

void active_sync(const char* routine, coll::CallFamily family, const coll::ActiveSet& set) noexcept;

void active_combine(const char* routine, void* dest, const void* source, int nreduce, const coll::ActiveSet& set,
                    const coll::Combine& combine) noexcept;

template <class T, class Op>
inline void active_reduce(const char* routine, T* dest, const T* source, int nreduce, int start, int log_stride,
                          int size, T* /*pwrk*/, long* psync) noexcept {
  active_combine(routine, dest, source, nreduce, {start, log_stride, size, psync}, coll::combine_of<T, Op>());
}

}  // namespace shmemx::api
