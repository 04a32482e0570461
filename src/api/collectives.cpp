// Entry points of collectives that do not block: argument checks and handles of requests.
#include <shmemx/collectives.h>

#include <cstdint>

#include "api/arg_check.hpp"
#include "api/request_handles.hpp"
#include "atomic/elements.hpp"
#include "base/fatal.hpp"
#include "check/blocks.hpp"
#include "check/checks.hpp"
#include "coll/background/begin.hpp"
#include "stats/span.hpp"

namespace api = shmemx::api;
namespace atomic = shmemx::atomic;
namespace background = shmemx::coll::background;
namespace coll = shmemx::coll;
namespace pt2pt = shmemx::pt2pt;

namespace {

using shmemx::stats::Family;
using shmemx::stats::RoutineSpan;

// Returns the team. Checks the request, too.
coll::Team& checked_call(const char* routine, shmem_team_t team, shmemx_request_t* request) noexcept {
  coll::Team& entry = api::checked_team(team, routine);
  api::check_result(routine, "request", request);
  return entry;
}

void check_buffer(const char* routine, const char* argument, const void* memory, std::size_t bytes) noexcept {
  api::check_memory(routine, argument, memory, bytes);
  if (shmemx::check::watches_operations()) [[unlikely]]
    shmemx::check::check_memory(routine, argument, memory, bytes);
}

background::Buffers checked_buffers(const char* routine, void* dest, const void* source, std::size_t bytes) noexcept {
  check_buffer(routine, "dest", dest, bytes);
  check_buffer(routine, "source", source, bytes);
  return {static_cast<std::byte*>(dest), static_cast<const std::byte*>(source), bytes};
}

background::Operator checked_operator(const char* routine, int type, int op) noexcept {
  if (type <= 0 || type >= static_cast<int>(atomic::ElementType::end))
    api::bad_argument(routine, "type", type, "the element types of shmemx/window_updates.h");
  const background::Operator checked{static_cast<atomic::ElementType>(type), static_cast<atomic::ElementOp>(op)};
  const bool is_reduction = op > 0 && op < static_cast<int>(atomic::ElementOp::end) &&
                            checked.op != atomic::ElementOp::replace && checked.op != atomic::ElementOp::no_op;
  if (!is_reduction || !atomic::go_together(checked.type, checked.op))
    api::bad_argument(routine, "op", op, "the operators of shmemx/window_updates.h that go with the type");
  return checked;
}

// Blocks of `bytes`, one for each member.
background::Buffers checked_blocks(const char* routine, const coll::Team& team, void* dest, const void* source,
                                   std::size_t bytes) noexcept {
  std::size_t all;
  if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(team.size()), &all))
    api::bad_count(routine, "bytes", bytes);
  return checked_buffers(routine, dest, source, bytes);
}

// The arguments of alltoallv have been filled in.
coll::Team& checked_alltoallv(shmem_team_t team, const background::AlltoallV& arguments) noexcept {
  coll::Team& entry = api::checked_team(team, arguments.routine);
  api::check_array(arguments.routine, "source_counts", arguments.source_counts);
  check_buffer(arguments.routine, "dest", arguments.dest, arguments.dest_bytes);
  for (std::size_t i = 0; i < static_cast<std::size_t>(entry.size()); ++i)
    check_buffer(arguments.routine, "source", arguments.source, arguments.source_counts[i]);
  return entry;
}

}  // namespace

extern "C" {

int shmemx_barrier_nb(shmem_team_t team, shmemx_request_t* request) noexcept {
  const char* const routine = "shmemx_barrier_nb";
  const RoutineSpan span(routine, Family::collective);
  coll::Team& entry = checked_call(routine, team, request);
  *request = api::handle_of(background::begin_barrier(entry, {routine, __builtin_return_address(0)}));
  return 0;
}

int shmemx_broadcast_nb(shmem_team_t team, void* dest, const void* source, size_t bytes, int root,
                        shmemx_request_t* request) noexcept {
  const char* const routine = "shmemx_broadcast_nb";
  const RoutineSpan span(routine, Family::collective, bytes);
  coll::Team& entry = checked_call(routine, team, request);
  if (root < 0 || root >= entry.size()) api::bad_argument(routine, "root", root, "the numbers of the PEs of the team");
  check_buffer(routine, "dest", dest, bytes);
  if (entry.me() == root) check_buffer(routine, "source", source, bytes);
  const background::Buffers buffers{static_cast<std::byte*>(dest), static_cast<const std::byte*>(source), bytes};
  *request = api::handle_of(background::begin_broadcast(entry, {routine, __builtin_return_address(0)}, buffers, root));
  return 0;
}

int shmemx_fcollect_nb(shmem_team_t team, void* dest, const void* source, size_t bytes,
                       shmemx_request_t* request) noexcept {
  const char* const routine = "shmemx_fcollect_nb";
  const RoutineSpan span(routine, Family::collective, bytes);
  coll::Team& entry = checked_call(routine, team, request);
  const background::Buffers buffers = checked_blocks(routine, entry, dest, source, bytes);
  *request = api::handle_of(background::begin_fcollect(entry, {routine, __builtin_return_address(0)}, buffers));
  return 0;
}

int shmemx_alltoall_nb(shmem_team_t team, void* dest, const void* source, size_t bytes,
                       shmemx_request_t* request) noexcept {
  const char* const routine = "shmemx_alltoall_nb";
  const RoutineSpan span(routine, Family::collective, bytes);
  coll::Team& entry = checked_call(routine, team, request);
  const background::Buffers buffers = checked_blocks(routine, entry, dest, source, bytes);
  *request = api::handle_of(background::begin_alltoall(entry, {routine, __builtin_return_address(0)}, buffers));
  return 0;
}

int shmemx_alltoallv(shmem_team_t team, void* dest, size_t dest_bytes, const size_t* dest_counts,
                     const size_t* dest_displs, const void* source, const size_t* source_counts,
                     const size_t* source_displs, size_t* received) noexcept {
  const background::AlltoallV arguments{"shmemx_alltoallv", static_cast<std::byte*>(dest),
                                        dest_bytes,         dest_counts,
                                        dest_displs,        static_cast<const std::byte*>(source),
                                        source_counts,      source_displs,
                                        received,           __builtin_return_address(0)};
  const RoutineSpan span(arguments.routine, Family::collective);
  coll::Team& entry = checked_alltoallv(team, arguments);
  pt2pt::Result ignored;
  pt2pt::wait(arguments.routine, background::begin_alltoallv(entry, arguments), ignored);
  return 0;
}

int shmemx_alltoallv_nb(shmem_team_t team, void* dest, size_t dest_bytes, const size_t* dest_counts,
                        const size_t* dest_displs, const void* source, const size_t* source_counts,
                        const size_t* source_displs, size_t* received, shmemx_request_t* request) noexcept {
  const background::AlltoallV arguments{"shmemx_alltoallv_nb",
                                        static_cast<std::byte*>(dest),
                                        dest_bytes,
                                        dest_counts,
                                        dest_displs,
                                        static_cast<const std::byte*>(source),
                                        source_counts,
                                        source_displs,
                                        received,
                                        __builtin_return_address(0)};
  const RoutineSpan span(arguments.routine, Family::collective);
  coll::Team& entry = checked_alltoallv(team, arguments);
  api::check_result(arguments.routine, "request", request);
  *request = api::handle_of(background::begin_alltoallv(entry, arguments));
  return 0;
}

int shmemx_reduce_nb(shmem_team_t team, void* dest, const void* source, size_t count, int type, int op,
                     shmemx_request_t* request) noexcept {
  const char* const routine = "shmemx_reduce_nb";
  coll::Team& entry = checked_call(routine, team, request);
  const background::Operator checked = checked_operator(routine, type, op);
  std::size_t bytes;
  if (__builtin_mul_overflow(count, checked.element_bytes(), &bytes)) api::bad_count(routine, "count", count);
  const RoutineSpan span(routine, Family::collective, bytes);
  const background::Buffers buffers = checked_buffers(routine, dest, source, bytes);
  *request =
      api::handle_of(background::begin_reduction(entry, {routine, __builtin_return_address(0)}, buffers, checked));
  return 0;
}

}  // extern "C"
