// One-sided operations and those with a request.
#include "interpose/api/entries.hpp"
#include "interpose/api/entry.hpp"
#include "interpose/below.hpp"
#include "interpose/quick.hpp"

namespace interpose = shmemx::interpose;
using interpose::below;
using interpose::find_known_layout;
using interpose::find_recent_window;
using interpose::find_window;
using interpose::finish;
using interpose::Layout;
using interpose::Local;
using interpose::local;
using interpose::recent_layout;
using interpose::Remote;
using interpose::Window;
using interpose::with_request;

namespace {

// Behind an operation that was allowed.
[[gnu::noinline]] int keep(const Window& window, MPI_Win win, int rank, const interpose::Items& items) {
  interpose::keep_recent_target(window, win, rank, items);
  return MPI_SUCCESS;
}

[[gnu::noinline]] int put_slow(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint disp,
                               int target_count, MPI_Datatype target_type, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Put(origin, count, type, rank, disp, target_count, target_type, win);
  if (type == target_type && count == target_count &&
      interpose::put_quickly(*window, find_known_layout(type), origin, count, rank, disp))
    return MPI_SUCCESS;
  return finish(*window, "MPI_Put",
                interpose::put(*window, local(origin, count, type), {rank, disp, target_count, target_type}, nullptr));
}

[[gnu::noinline]] int put_known(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint disp,
                                MPI_Win win) {
  const Window* const window = find_recent_window(win);
  const Layout* const layout = recent_layout(type);
  if (window != nullptr && interpose::put_words(*window, layout, origin, count, rank, disp)) [[likely]]
    return keep(*window, win, rank, {count, type, layout});
  return put_slow(origin, count, type, rank, disp, count, type, win);
}

[[gnu::always_inline]] inline bool try_put(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint disp,
                                           int target_count, MPI_Datatype target_type, MPI_Win win) {
  return type == target_type && count == target_count && interpose::put_recent(origin, count, type, rank, disp, win);
}
int put_otherwise(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int target_count,
                  MPI_Datatype target_type, MPI_Win win) {
  if (type != target_type || count != target_count) [[unlikely]]
    return put_slow(origin, count, type, rank, disp, target_count, target_type, win);
  return put_known(origin, count, type, rank, disp, win);
}

}  // namespace

SHMEMX_SHORT_NAMES(Put, 8, try_put, put_otherwise)

namespace {

[[gnu::noinline]] int get_slow(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int target_count,
                               MPI_Datatype target_type, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Get(origin, count, type, rank, disp, target_count, target_type, win);
  if (type == target_type && count == target_count &&
      interpose::get_quickly(*window, find_known_layout(type), origin, count, rank, disp))
    return MPI_SUCCESS;
  return finish(*window, "MPI_Get",
                interpose::get(*window, local(origin, count, type), {rank, disp, target_count, target_type}, nullptr));
}

[[gnu::noinline]] int get_known(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Win win) {
  const Window* const window = find_recent_window(win);
  const Layout* const layout = recent_layout(type);
  if (window != nullptr && interpose::get_words(*window, layout, origin, count, rank, disp)) [[likely]]
    return keep(*window, win, rank, {count, type, layout});
  return get_slow(origin, count, type, rank, disp, count, type, win);
}

[[gnu::always_inline]] inline bool try_get(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint disp,
                                           int target_count, MPI_Datatype target_type, MPI_Win win) {
  return type == target_type && count == target_count && interpose::get_recent(origin, count, type, rank, disp, win);
}
int get_otherwise(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int target_count,
                  MPI_Datatype target_type, MPI_Win win) {
  if (type != target_type || count != target_count) [[unlikely]]
    return get_slow(origin, count, type, rank, disp, target_count, target_type, win);
  return get_known(origin, count, type, rank, disp, win);
}

}  // namespace

SHMEMX_SHORT_NAMES(Get, 8, try_get, get_otherwise)

namespace {

[[gnu::noinline]] int accumulate_slow(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint disp,
                                      int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Accumulate(origin, count, type, rank, disp, target_count, target_type, op, win);
  if (type == target_type && count == target_count) {
    const Layout* const layout = find_known_layout(type);
    const interpose::One first{origin, nullptr, type, rank, disp};
    if (count == 1 && interpose::update_quickly(*window, layout, first, op)) return MPI_SUCCESS;
    if (interpose::accumulate_quickly(*window, layout, first, count, op)) return MPI_SUCCESS;
  }
  const Remote remote{rank, disp, target_count, target_type};
  return finish(*window, "MPI_Accumulate",
                interpose::accumulate(*window, local(origin, count, type), remote, op, nullptr));
}

// Of one element.
[[gnu::noinline]] int accumulate_known(const void* origin, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Op op,
                                       MPI_Win win) {
  const Window* const window = find_recent_window(win);
  const Layout* const layout = recent_layout(type);
  if (window != nullptr && interpose::update_quickly(*window, layout, {origin, nullptr, type, rank, disp}, op))
      [[likely]]
    return keep(*window, win, rank, {1, type, layout});
  return accumulate_slow(origin, 1, type, rank, disp, 1, type, op, win);
}

[[gnu::always_inline]] inline bool try_accumulate(const void* origin, int count, MPI_Datatype type, int rank,
                                                  MPI_Aint disp, int target_count, MPI_Datatype target_type, MPI_Op op,
                                                  MPI_Win win) {
  return type == target_type && count == 1 && target_count == 1 &&
         interpose::update_recent({origin, nullptr, type, rank, disp}, op, win);
}
int accumulate_otherwise(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int target_count,
                         MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  if (type != target_type || count != 1 || target_count != 1) [[unlikely]]
    return accumulate_slow(origin, count, type, rank, disp, target_count, target_type, op, win);
  return accumulate_known(origin, type, rank, disp, op, win);
}

}  // namespace

SHMEMX_SHORT_NAMES(Accumulate, 9, try_accumulate, accumulate_otherwise)

SHMEMX_ENTRY int PMPI_Get_accumulate(const void* origin, int count, MPI_Datatype type, void* result, int result_count,
                                     MPI_Datatype result_type, int rank, MPI_Aint disp, int target_count,
                                     MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr)
    return below().Get_accumulate(origin, count, type, result, result_count, result_type, rank, disp, target_count,
                                  target_type, op, win);
  const Local results = local(result, result_count, result_type);
  const Remote remote{rank, disp, target_count, target_type};
  return finish(*window, "MPI_Get_accumulate",
                interpose::get_accumulate(*window, local(origin, count, type), results, remote, op, nullptr));
}
SHMEMX_BOTH_NAMES(Get_accumulate, 12)

SHMEMX_ENTRY int PMPI_Rput(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int target_count,
                           MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Rput(origin, count, type, rank, disp, target_count, target_type, win, request);
  return with_request(*window, "MPI_Rput", rank, request, [&](long* counter) {
    return interpose::put(*window, local(origin, count, type), {rank, disp, target_count, target_type}, counter);
  });
}
SHMEMX_BOTH_NAMES(Rput, 9)

SHMEMX_ENTRY int PMPI_Rget(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int target_count,
                           MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Rget(origin, count, type, rank, disp, target_count, target_type, win, request);
  return with_request(*window, "MPI_Rget", rank, request, [&](long* counter) {
    return interpose::get(*window, local(origin, count, type), {rank, disp, target_count, target_type}, counter);
  });
}
SHMEMX_BOTH_NAMES(Rget, 9)

SHMEMX_ENTRY int PMPI_Raccumulate(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint disp,
                                  int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                  MPI_Request* request) {
  Window* const window = find_window(win);
  if (window == nullptr)
    return below().Raccumulate(origin, count, type, rank, disp, target_count, target_type, op, win, request);
  const Remote remote{rank, disp, target_count, target_type};
  return with_request(*window, "MPI_Raccumulate", rank, request, [&](long* counter) {
    return interpose::accumulate(*window, local(origin, count, type), remote, op, counter);
  });
}
SHMEMX_BOTH_NAMES(Raccumulate, 10)

SHMEMX_ENTRY int PMPI_Rget_accumulate(const void* origin, int count, MPI_Datatype type, void* result, int result_count,
                                      MPI_Datatype result_type, int rank, MPI_Aint disp, int target_count,
                                      MPI_Datatype target_type, MPI_Op op, MPI_Win win, MPI_Request* request) {
  Window* const window = find_window(win);
  if (window == nullptr)
    return below().Rget_accumulate(origin, count, type, result, result_count, result_type, rank, disp, target_count,
                                   target_type, op, win, request);
  const Local results = local(result, result_count, result_type);
  const Remote remote{rank, disp, target_count, target_type};
  return with_request(*window, "MPI_Rget_accumulate", rank, request, [&](long* counter) {
    return interpose::get_accumulate(*window, local(origin, count, type), results, remote, op, counter);
  });
}
SHMEMX_BOTH_NAMES(Rget_accumulate, 13)

namespace {

[[gnu::noinline]] int fetch_and_op_slow(const void* origin, void* result, MPI_Datatype type, int rank, MPI_Aint disp,
                                        MPI_Op op, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Fetch_and_op(origin, result, type, rank, disp, op, win);
  const interpose::One one{origin, result, type, rank, disp};
  if (interpose::is_buffer(result) && interpose::update_quickly(*window, find_known_layout(type), one, op))
    return MPI_SUCCESS;
  return finish(*window, "MPI_Fetch_and_op", interpose::fetch_and_op(*window, one, op));
}

[[gnu::noinline]] int fetch_and_op_known(const void* origin, void* result, MPI_Datatype type, int rank, MPI_Aint disp,
                                         MPI_Op op, MPI_Win win) {
  const Window* const window = find_recent_window(win);
  const Layout* const layout = recent_layout(type);
  if (window != nullptr && interpose::is_buffer(result) &&
      interpose::update_quickly(*window, layout, {origin, result, type, rank, disp}, op)) [[likely]]
    return keep(*window, win, rank, {1, type, layout});
  return fetch_and_op_slow(origin, result, type, rank, disp, op, win);
}

[[gnu::always_inline]] inline bool try_fetch_and_op(const void* origin, void* result, MPI_Datatype type, int rank,
                                                    MPI_Aint disp, MPI_Op op, MPI_Win win) {
  return interpose::is_buffer(result) && interpose::update_recent({origin, result, type, rank, disp}, op, win);
}

}  // namespace

SHMEMX_SHORT_NAMES(Fetch_and_op, 7, try_fetch_and_op, fetch_and_op_known)

namespace {

[[gnu::noinline]] int compare_and_swap_slow(const void* origin, const void* compare, void* result, MPI_Datatype type,
                                            int rank, MPI_Aint disp, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Compare_and_swap(origin, compare, result, type, rank, disp, win);
  const interpose::One one{origin, result, type, rank, disp};
  if (interpose::compare_and_swap_quickly(*window, find_known_layout(type), one, compare)) return MPI_SUCCESS;
  return finish(*window, "MPI_Compare_and_swap", interpose::compare_and_swap(*window, one, compare));
}

[[gnu::noinline]] int compare_and_swap_known(const void* origin, const void* compare, void* result, MPI_Datatype type,
                                             int rank, MPI_Aint disp, MPI_Win win) {
  const Window* const window = find_recent_window(win);
  const Layout* const layout = recent_layout(type);
  if (window != nullptr &&
      interpose::compare_and_swap_quickly(*window, layout, {origin, result, type, rank, disp}, compare)) [[likely]]
    return keep(*window, win, rank, {1, type, layout});
  return compare_and_swap_slow(origin, compare, result, type, rank, disp, win);
}

[[gnu::always_inline]] inline bool try_compare_and_swap(const void* origin, const void* compare, void* result,
                                                        MPI_Datatype type, int rank, MPI_Aint disp, MPI_Win win) {
  return interpose::compare_and_swap_recent({origin, result, type, rank, disp}, compare, win);
}

}  // namespace

SHMEMX_SHORT_NAMES(Compare_and_swap, 7, try_compare_and_swap, compare_and_swap_known)
