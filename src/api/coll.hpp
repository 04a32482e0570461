// Team collectives: they check arguments and translate addresses; coll/ works on bytes or on typed elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "api/arg_check.hpp"
#include "coll/alltoall.hpp"
#include "coll/broadcast.hpp"
#include "coll/collect.hpp"
#include "coll/reduce.hpp"
#include "coll/scan.hpp"

namespace shmemx::api {

using coll::And;
using coll::Max;
using coll::Min;
using coll::Or;
using coll::Prod;
using coll::Sum;
using coll::Xor;

// Source and dest of a collective, checked on this PE and translated for all PEs of the group.
struct CollectiveBuffers {
  coll::Symmetric dest;
  coll::Symmetric source;
};

template <class Group>
inline coll::Symmetric checked_symmetric(const Group& group, const char* argument, const void* address,
                                         std::uint64_t bytes) noexcept {
  return coll::symmetric(group.route(), {group.routine(), argument}, address, bytes, group.is_direct());
}

template <class T, class Group>
inline CollectiveBuffers checked_buffers(const Group& group, void* dest, std::size_t dest_elements, const void* source,
                                         std::size_t source_elements) noexcept {
  return {checked_symmetric(group, "dest", dest, checked_bytes(group.routine(), dest_elements, sizeof(T))),
          checked_symmetric(group, "source", source, checked_bytes(group.routine(), source_elements, sizeof(T)))};
}

// Returns the number of elements of all PEs together.
inline std::size_t times(const char* routine, std::size_t nelems, int n_pes) noexcept {
  return checked_bytes(routine, nelems, static_cast<std::size_t>(n_pes));
}

inline void check_root(const char* routine, const char* argument, int root, int n_pes) noexcept {
  if (root < 0 || root >= n_pes) [[unlikely]]
    bad_argument(routine, argument, root, "the numbers of the PEs of the team or set");
}

// Describes one block to coll/: elements of different PEs follow each other with the same stride.
template <class T, class Group>
inline void alltoalls_on(Group& group, void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst,
                         std::size_t nelems) noexcept {
  check_stride(group.routine(), "dst", dst, 1);
  check_stride(group.routine(), "sst", sst, 1);
  const rma::Strided shape{sizeof(T), nelems, static_cast<std::size_t>(dst) * sizeof(T),
                           static_cast<std::size_t>(sst) * sizeof(T)};
  const std::size_t all = times(group.routine(), nelems, group.size());
  const auto extent = [&](std::ptrdiff_t stride) {
    return all == 0 ? 0 : checked_bytes(group.routine(), all - 1, static_cast<std::size_t>(stride)) + 1;
  };
  const CollectiveBuffers buffers = checked_buffers<T>(group, dest, extent(dst), source, extent(sst));
  coll::alltoalls(group, buffers.dest, buffers.source, shape);
}

template <class T, class Group>
inline void collect_on(Group& group, void* dest, const void* source, std::size_t nelems) noexcept {
  const std::uint64_t bytes = checked_bytes(group.routine(), nelems, sizeof(T));
  const coll::Symmetric from = checked_symmetric(group, "source", source, bytes);
  coll::collect(
      group, [&](std::uint64_t total) { return checked_symmetric(group, "dest", dest, total); }, from.at(group.me()),
      bytes);
}

template <class T, class Op, class Group>
inline void reduce_on(Group& group, T* dest, const T* source, std::size_t nelems) noexcept {
  const CollectiveBuffers buffers = checked_buffers<T>(group, dest, nelems, source, nelems);
  coll::reduce<T, Op>(group, coll::Elements<T>{buffers.dest}, coll::Elements<T>{buffers.source}, nelems);
}

template <class T>
inline int alltoall(const char* routine, shmem_team_t team, void* dest, const void* source,
                    std::size_t nelems) noexcept {
  coll::TeamGroup group(checked_team(team, routine), routine);
  const std::size_t all = times(routine, nelems, group.size());
  const CollectiveBuffers buffers = checked_buffers<T>(group, dest, all, source, all);
  coll::alltoall(group, buffers.dest, buffers.source, nelems * sizeof(T));
  return 0;
}

template <class T>
inline int alltoalls(const char* routine, shmem_team_t team, void* dest, const void* source, std::ptrdiff_t dst,
                     std::ptrdiff_t sst, std::size_t nelems) noexcept {
  coll::TeamGroup group(checked_team(team, routine), routine);
  alltoalls_on<T>(group, dest, source, dst, sst, nelems);
  return 0;
}

template <class T>
inline int broadcast(const char* routine, shmem_team_t team, void* dest, const void* source, std::size_t nelems,
                     int root) noexcept {
  coll::TeamGroup group(checked_team(team, routine), routine);
  check_root(routine, "PE_root", root, group.size());
  const CollectiveBuffers buffers = checked_buffers<T>(group, dest, nelems, source, nelems);
  coll::broadcast(group, buffers.dest, buffers.source, nelems * sizeof(T), root);
  return 0;
}

template <class T>
inline int collect(const char* routine, shmem_team_t team, void* dest, const void* source,
                   std::size_t nelems) noexcept {
  coll::TeamGroup group(checked_team(team, routine), routine);
  collect_on<T>(group, dest, source, nelems);
  return 0;
}

template <class T>
inline int fcollect(const char* routine, shmem_team_t team, void* dest, const void* source,
                    std::size_t nelems) noexcept {
  coll::TeamGroup group(checked_team(team, routine), routine);
  const CollectiveBuffers buffers =
      checked_buffers<T>(group, dest, times(routine, nelems, group.size()), source, nelems);
  coll::fcollect(group, buffers.dest, buffers.source, nelems * sizeof(T));
  return 0;
}

template <class T, class Op>
inline int reduce(const char* routine, shmem_team_t team, T* dest, const T* source, std::size_t nreduce) noexcept {
  coll::TeamGroup group(checked_team(team, routine), routine);
  reduce_on<T, Op>(group, dest, source, nreduce);
  return 0;
}

template <class T>
inline int scan_of(const char* routine, shmem_team_t team, T* dest, const T* source, std::size_t nelems,
                   bool exclusive) noexcept {
  coll::TeamGroup group(checked_team(team, routine), routine);
  const CollectiveBuffers buffers = checked_buffers<T>(group, dest, nelems, source, nelems);
  coll::scan<T>(group, coll::Elements<T>{buffers.dest}, coll::Elements<T>{buffers.source}, nelems, exclusive);
  return 0;
}
template <class T>
inline int inscan(const char* routine, shmem_team_t team, T* dest, const T* source, std::size_t nelems) noexcept {
  return scan_of<T>(routine, team, dest, source, nelems, false);
}
template <class T>
inline int exscan(const char* routine, shmem_team_t team, T* dest, const T* source, std::size_t nelems) noexcept {
  return scan_of<T>(routine, team, dest, source, nelems, true);
}

}  // namespace shmemx::api
