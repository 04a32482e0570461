// Entry points of collectives that do not block: argument checks and handles of requests.
#include <shmemx/collectives.h>

#include <cstdint>

#include "api/arg_check.hpp"
#include "api/request_handles.hpp"
#include "atomic/elements.hpp"
#include "base/fatal.hpp"
#include "coll/background/begin.hpp"

namespace api = shmemx::api;
namespace atomic = shmemx::atomic;
namespace background = shmemx::coll::background;
namespace coll = shmemx::coll;

namespace {

// Returns the team. Checks the request, too.
coll::Team& checked_call(const char* routine, shmem_team_t team, shmemx_request_t* request) noexcept {
  coll::Team& entry = api::checked_team(team, routine);
  api::check_result(routine, "request", request);
  return entry;
}

void check_memory(const char* routine, const char* argument, const void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr && bytes != 0)
    api::bad_argument(routine, argument, 0, "pointers to as many bytes as the call says");
}

background::Buffers checked_buffers(const char* routine, void* dest, const void* source, std::size_t bytes) noexcept {
  check_memory(routine, "dest", dest, bytes);
  check_memory(routine, "source", source, bytes);
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

}  // namespace

extern "C" {

int shmemx_barrier_nb(shmem_team_t team, shmemx_request_t* request) noexcept {
  const char* const routine = "shmemx_barrier_nb";
  coll::Team& entry = checked_call(routine, team, request);
  *request = api::handle_of(background::begin_barrier(entry, routine));
  return 0;
}

int shmemx_reduce_nb(shmem_team_t team, void* dest, const void* source, size_t count, int type, int op,
                     shmemx_request_t* request) noexcept {
  const char* const routine = "shmemx_reduce_nb";
  coll::Team& entry = checked_call(routine, team, request);
  const background::Operator checked = checked_operator(routine, type, op);
  std::size_t bytes;
  if (__builtin_mul_overflow(count, checked.element_bytes(), &bytes)) api::bad_count(routine, "count", count);
  const background::Buffers buffers = checked_buffers(routine, dest, source, bytes);
  *request = api::handle_of(background::begin_reduction(entry, routine, buffers, checked));
  return 0;
}

}  // extern "C"
