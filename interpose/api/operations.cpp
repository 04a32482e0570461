// One-sided operations and those with a request. Those with counts of int and of MPI_Count have one definition.
#include "interpose/api/entries.hpp"
#include "interpose/api/entry.hpp"
#include "interpose/below.hpp"
#include "interpose/element_update.hpp"
#include "interpose/transfer.hpp"

namespace interpose = shmemx::interpose;
using interpose::find_window;
using interpose::finish;
using interpose::is_buffer;
using interpose::Local;
using interpose::local;
using interpose::One;
using interpose::RecentTarget;
using interpose::Remote;
using interpose::Window;
using interpose::with_request;

// The try_ functions do the whole operation if one of the last ones was alike, without a chain of loads. They make no
// call, so that no registers are saved.
namespace {

template <class Count>
[[gnu::always_inline]] inline bool try_put(const void* origin, Count count, MPI_Datatype type, int rank, MPI_Aint disp,
                                           Count target_count, MPI_Datatype target_type, MPI_Win win) {
  const RecentTarget& target = interpose::recent_target(rank);
  return type == target_type && count == target_count && is_recent(target, win, rank, disp, type) &&
         target.count == count && is_buffer(origin) &&
         interpose::try_copy_words(place_in(target, disp), origin, target.bytes);
}

template <class Routine, class Count>
[[gnu::noinline]] int put(const void* origin, Count count, MPI_Datatype type, int rank, MPI_Aint disp,
                          Count target_count, MPI_Datatype target_type, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return Routine::below(origin, count, type, rank, disp, target_count, target_type, win);
  return finish(*window, Routine::kName,
                interpose::put(*window, local(origin, count, type), {rank, disp, target_count, target_type}, nullptr));
}

template <class Count>
[[gnu::always_inline]] inline bool try_get(void* origin, Count count, MPI_Datatype type, int rank, MPI_Aint disp,
                                           Count target_count, MPI_Datatype target_type, MPI_Win win) {
  const RecentTarget& target = interpose::recent_target(rank);
  return type == target_type && count == target_count && is_recent(target, win, rank, disp, type) &&
         target.count == count && is_buffer(origin) &&
         interpose::try_copy_words(origin, place_in(target, disp), target.bytes);
}

template <class Routine, class Count>
[[gnu::noinline]] int get(void* origin, Count count, MPI_Datatype type, int rank, MPI_Aint disp, Count target_count,
                          MPI_Datatype target_type, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return Routine::below(origin, count, type, rank, disp, target_count, target_type, win);
  return finish(*window, Routine::kName,
                interpose::get(*window, local(origin, count, type), {rank, disp, target_count, target_type}, nullptr));
}

// By the operators for which there is an instruction. A null result is not written.
[[gnu::always_inline]] inline bool update_at(std::byte* at, std::size_t bytes, const One& one, MPI_Op op) noexcept {
  if (op == MPI_SUM) [[likely]]
    return is_buffer(one.origin) && interpose::update_integer(at, bytes, SHMEMX_OP_SUM, one.origin, one.result);
  if (op == MPI_NO_OP) return interpose::update_integer(at, bytes, SHMEMX_OP_NO_OP, one.origin, one.result);
  return op == MPI_REPLACE && is_buffer(one.origin) &&
         interpose::update_integer(at, bytes, SHMEMX_OP_REPLACE, one.origin, one.result);
}

[[gnu::always_inline]] inline bool try_update(const One& one, MPI_Op op, MPI_Win win) noexcept {
  const RecentTarget& target = interpose::recent_target(one.rank);
  return is_recent(target, win, one.rank, one.disp, one.type) &&
         update_at(place_in(target, one.disp), target.update_bytes, one, op);
}

template <class Count>
[[gnu::always_inline]] inline bool try_accumulate(const void* origin, Count count, MPI_Datatype type, int rank,
                                                  MPI_Aint disp, Count target_count, MPI_Datatype target_type,
                                                  MPI_Op op, MPI_Win win) {
  return type == target_type && count == 1 && target_count == 1 &&
         try_update({origin, nullptr, type, rank, disp}, op, win);
}

template <class Routine, class Count>
[[gnu::noinline]] int accumulate(const void* origin, Count count, MPI_Datatype type, int rank, MPI_Aint disp,
                                 Count target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return Routine::below(origin, count, type, rank, disp, target_count, target_type, op, win);
  const Remote remote{rank, disp, target_count, target_type};
  return finish(*window, Routine::kName,
                interpose::accumulate(*window, local(origin, count, type), remote, op, nullptr));
}

template <class Routine, class Count>
int get_accumulate(const void* origin, Count count, MPI_Datatype type, void* result, Count result_count,
                   MPI_Datatype result_type, int rank, MPI_Aint disp, Count target_count, MPI_Datatype target_type,
                   MPI_Op op, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr)
    return Routine::below(origin, count, type, result, result_count, result_type, rank, disp, target_count, target_type,
                          op, win);
  const Local results = local(result, result_count, result_type);
  const Remote remote{rank, disp, target_count, target_type};
  return finish(*window, Routine::kName,
                interpose::get_accumulate(*window, local(origin, count, type), results, remote, op, nullptr));
}

template <class Routine, class Count>
int rput(const void* origin, Count count, MPI_Datatype type, int rank, MPI_Aint disp, Count target_count,
         MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
  Window* const window = find_window(win);
  if (window == nullptr)
    return Routine::below(origin, count, type, rank, disp, target_count, target_type, win, request);
  return with_request(*window, Routine::kName, rank, request, [&](long* counter) {
    return interpose::put(*window, local(origin, count, type), {rank, disp, target_count, target_type}, counter);
  });
}

template <class Routine, class Count>
int rget(void* origin, Count count, MPI_Datatype type, int rank, MPI_Aint disp, Count target_count,
         MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
  Window* const window = find_window(win);
  if (window == nullptr)
    return Routine::below(origin, count, type, rank, disp, target_count, target_type, win, request);
  return with_request(*window, Routine::kName, rank, request, [&](long* counter) {
    return interpose::get(*window, local(origin, count, type), {rank, disp, target_count, target_type}, counter);
  });
}

template <class Routine, class Count>
int raccumulate(const void* origin, Count count, MPI_Datatype type, int rank, MPI_Aint disp, Count target_count,
                MPI_Datatype target_type, MPI_Op op, MPI_Win win, MPI_Request* request) {
  Window* const window = find_window(win);
  if (window == nullptr)
    return Routine::below(origin, count, type, rank, disp, target_count, target_type, op, win, request);
  const Remote remote{rank, disp, target_count, target_type};
  return with_request(*window, Routine::kName, rank, request, [&](long* counter) {
    return interpose::accumulate(*window, local(origin, count, type), remote, op, counter);
  });
}

template <class Routine, class Count>
int rget_accumulate(const void* origin, Count count, MPI_Datatype type, void* result, Count result_count,
                    MPI_Datatype result_type, int rank, MPI_Aint disp, Count target_count, MPI_Datatype target_type,
                    MPI_Op op, MPI_Win win, MPI_Request* request) {
  Window* const window = find_window(win);
  if (window == nullptr)
    return Routine::below(origin, count, type, result, result_count, result_type, rank, disp, target_count, target_type,
                          op, win, request);
  const Local results = local(result, result_count, result_type);
  const Remote remote{rank, disp, target_count, target_type};
  return with_request(*window, Routine::kName, rank, request, [&](long* counter) {
    return interpose::get_accumulate(*window, local(origin, count, type), results, remote, op, counter);
  });
}

[[gnu::always_inline]] inline bool try_fetch_and_op(const void* origin, void* result, MPI_Datatype type, int rank,
                                                    MPI_Aint disp, MPI_Op op, MPI_Win win) {
  return is_buffer(result) && try_update({origin, result, type, rank, disp}, op, win);
}

template <class Routine>
[[gnu::noinline]] int fetch_and_op(const void* origin, void* result, MPI_Datatype type, int rank, MPI_Aint disp,
                                   MPI_Op op, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return Routine::below(origin, result, type, rank, disp, op, win);
  return finish(*window, Routine::kName, interpose::fetch_and_op(*window, {origin, result, type, rank, disp}, op));
}

[[gnu::always_inline]] inline bool try_compare_and_swap(const void* origin, const void* compare, void* result,
                                                        MPI_Datatype type, int rank, MPI_Aint disp, MPI_Win win) {
  const RecentTarget& target = interpose::recent_target(rank);
  return is_recent(target, win, rank, disp, type) && is_buffer(origin) && is_buffer(compare) && is_buffer(result) &&
         interpose::swap_integer(place_in(target, disp), target.update_bytes, compare, origin, result);
}

template <class Routine>
[[gnu::noinline]] int compare_and_swap(const void* origin, const void* compare, void* result, MPI_Datatype type,
                                       int rank, MPI_Aint disp, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return Routine::below(origin, compare, result, type, rank, disp, win);
  return finish(*window, Routine::kName,
                interpose::compare_and_swap(*window, {origin, result, type, rank, disp}, compare));
}

}  // namespace

SHMEMX_BY_SHORT_PATH(Put, 8, try_put, put)
SHMEMX_BY_SHORT_PATH(Get, 8, try_get, get)
SHMEMX_BY_SHORT_PATH(Accumulate, 9, try_accumulate, accumulate)
SHMEMX_BY_SHORT_PATH(Fetch_and_op, 7, try_fetch_and_op, fetch_and_op)
SHMEMX_BY_SHORT_PATH(Compare_and_swap, 7, try_compare_and_swap, compare_and_swap)
SHMEMX_BY_FUNCTION(Get_accumulate, 12, get_accumulate)
SHMEMX_BY_FUNCTION(Rput, 9, rput)
SHMEMX_BY_FUNCTION(Rget, 9, rget)
SHMEMX_BY_FUNCTION(Raccumulate, 10, raccumulate)
SHMEMX_BY_FUNCTION(Rget_accumulate, 13, rget_accumulate)

#if MPI_VERSION >= 4
SHMEMX_BY_SHORT_PATH(Put_c, 8, try_put, put)
SHMEMX_BY_SHORT_PATH(Get_c, 8, try_get, get)
SHMEMX_BY_SHORT_PATH(Accumulate_c, 9, try_accumulate, accumulate)
SHMEMX_BY_FUNCTION(Get_accumulate_c, 12, get_accumulate)
SHMEMX_BY_FUNCTION(Rput_c, 9, rput)
SHMEMX_BY_FUNCTION(Rget_c, 9, rget)
SHMEMX_BY_FUNCTION(Raccumulate_c, 10, raccumulate)
SHMEMX_BY_FUNCTION(Rget_accumulate_c, 13, rget_accumulate)
#endif
