// Team collectives: they check arguments and translate addresses; coll/ works on bytes or on typed elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "api/arg_check.hpp"
#include "check/checks.hpp"
#include "check/transfers.hpp"
#include "coll/alltoall.hpp"
#include "coll/broadcast.hpp"
#include "coll/collect.hpp"
#include "coll/reduce.hpp"
#include "coll/scan.hpp"

namespace shmemx::api {

// What tells the routines of a table apart: the name that diagnostics show, and the size of an element.
struct TypedRoutine {
  const char* name;
  std::size_t element_bytes;
};

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

template <class Group>
inline CollectiveBuffers checked_buffers(Group& group, void* dest, std::size_t dest_elements, const void* source,
                                         std::size_t source_elements, std::size_t element_bytes,
                                         check::SameArray same = check::SameArray::forbidden) noexcept {
  const std::uint64_t dest_bytes = checked_bytes(group.routine(), dest_elements, element_bytes);
  const std::uint64_t source_bytes = checked_bytes(group.routine(), source_elements, element_bytes);
  const CollectiveBuffers buffers{checked_symmetric(group, "dest", dest, dest_bytes),
                                  checked_symmetric(group, "source", source, source_bytes)};
  if (check::is_on()) [[unlikely]] {
    check::check_collective(group.routine(), {dest, dest_bytes}, {source, source_bytes}, same);
    if (dest_elements != 0) group.note_dest(dest);
  }
  return buffers;
}

// Returns the number of elements of all PEs together.
inline std::size_t times(const char* routine, std::size_t nelems, int n_pes) noexcept {
  return checked_bytes(routine, nelems, static_cast<std::size_t>(n_pes));
}

inline void check_root(const char* routine, const char* argument, int root, int n_pes) noexcept {
  if (root < 0 || root >= n_pes) [[unlikely]]
    bad_argument(routine, argument, root, "the numbers of the PEs of the team or set");
}

// The collectives of a group, of a team or an active set; `element_bytes`: of one element.
template <class Group>
inline void alltoall_on(Group& group, void* dest, const void* source, std::size_t nelems,
                        std::size_t element_bytes) noexcept {
  const std::size_t all = times(group.routine(), nelems, group.size());
  const CollectiveBuffers buffers = checked_buffers(group, dest, all, source, all, element_bytes);
  group.begin(coll::call_word(coll::kind_of(coll::CallFamily::alltoall, element_bytes), nelems));
  coll::alltoall(group, buffers.dest, buffers.source, nelems * element_bytes);
}

// Describes one block to coll/: elements of different PEs follow each other with the same stride.
template <class Group>
inline void alltoalls_on(Group& group, void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst,
                         std::size_t nelems, std::size_t element_bytes) noexcept {
  check_stride(group.routine(), "dst", dst, 1);
  check_stride(group.routine(), "sst", sst, 1);
  const rma::Strided shape{element_bytes, nelems, static_cast<std::size_t>(dst) * element_bytes,
                           static_cast<std::size_t>(sst) * element_bytes};
  const std::size_t all = times(group.routine(), nelems, group.size());
  const auto extent = [&](std::ptrdiff_t stride) {
    return all == 0 ? 0 : checked_bytes(group.routine(), all - 1, static_cast<std::size_t>(stride)) + 1;
  };
  const CollectiveBuffers buffers = checked_buffers(group, dest, extent(dst), source, extent(sst), element_bytes);
  const int strides = coll::strides_word(static_cast<std::uint64_t>(dst), static_cast<std::uint64_t>(sst));
  group.begin(coll::call_word(coll::kind_of(coll::CallFamily::alltoalls, element_bytes), nelems, strides));
  coll::alltoalls(group, buffers.dest, buffers.source, shape);
}

template <class Group>
inline void collect_on(Group& group, void* dest, const void* source, std::size_t nelems,
                       std::size_t element_bytes) noexcept {
  const std::uint64_t bytes = checked_bytes(group.routine(), nelems, element_bytes);
  const coll::Symmetric from = checked_symmetric(group, "source", source, bytes);
  if (check::is_on()) [[unlikely]]
    group.note_dest(dest);
  group.begin(coll::call_word(coll::kind_of(coll::CallFamily::collect, element_bytes)));
  coll::collect(
      group,
      [&](std::uint64_t total) {
        const coll::Symmetric to = checked_symmetric(group, "dest", dest, total);
        if (check::is_on()) [[unlikely]]
          check::check_collective(group.routine(), {dest, total}, {source, bytes}, check::SameArray::forbidden);
        return to;
      },
      from.at(group.me()), bytes);
}

template <class Group>
inline void fcollect_on(Group& group, void* dest, const void* source, std::size_t nelems,
                        std::size_t element_bytes) noexcept {
  const std::size_t all = times(group.routine(), nelems, group.size());
  const CollectiveBuffers buffers = checked_buffers(group, dest, all, source, nelems, element_bytes);
  group.begin(coll::call_word(coll::kind_of(coll::CallFamily::fcollect, element_bytes), nelems));
  coll::fcollect(group, buffers.dest, buffers.source, nelems * element_bytes);
}

template <class Group>
inline void reduce_on(Group& group, void* dest, const void* source, std::size_t nelems,
                      const coll::Combine& combine) noexcept {
  const CollectiveBuffers buffers =
      checked_buffers(group, dest, nelems, source, nelems, combine.element_bytes, check::SameArray::allowed);
  group.begin(coll::call_word(combine.kind, nelems));
  coll::reduce(group, buffers.dest, buffers.source, nelems, combine);
}

int alltoall(TypedRoutine routine, shmem_team_t team, void* dest, const void* source, std::size_t nelems) noexcept;
int alltoalls(TypedRoutine routine, shmem_team_t team, void* dest, const void* source, std::ptrdiff_t dst,
              std::ptrdiff_t sst, std::size_t nelems) noexcept;
int broadcast_from(const void* site, TypedRoutine routine, shmem_team_t team, void* dest, const void* source,
                   std::size_t nelems, int root) noexcept;
// In the entry point, which knows where it returns to.
[[gnu::always_inline]] inline int broadcast(TypedRoutine routine, shmem_team_t team, void* dest, const void* source,
                                            std::size_t nelems, int root) noexcept {
  return broadcast_from(__builtin_return_address(0), routine, team, dest, source, nelems, root);
}
int collect(TypedRoutine routine, shmem_team_t team, void* dest, const void* source, std::size_t nelems) noexcept;
int fcollect(TypedRoutine routine, shmem_team_t team, void* dest, const void* source, std::size_t nelems) noexcept;

// Reductions, and scans.
int combine(const char* routine, shmem_team_t team, void* dest, const void* source, std::size_t nreduce,
            const coll::Combine& combine) noexcept;
int combine(const char* routine, shmem_team_t team, void* dest, const void* source, std::size_t nelems,
            const coll::Scan& scan) noexcept;

}  // namespace shmemx::api
