// One-sided operations with counts of MPI_Count.
#include "interpose/api/entries.hpp"
#include "interpose/api/entry.hpp"
#include "interpose/below.hpp"

namespace interpose = shmemx::interpose;
using interpose::below;
using interpose::find_window;
using interpose::finish;
using interpose::Local;
using interpose::local;
using interpose::Remote;
using interpose::Window;
using interpose::with_request;

#if MPI_VERSION >= 4

SHMEMX_ENTRY int PMPI_Put_c(const void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint disp,
                            MPI_Count target_count, MPI_Datatype target_type, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Put_c(origin, count, type, rank, disp, target_count, target_type, win);
  return finish(*window, "MPI_Put_c",
                interpose::put(*window, local(origin, count, type), {rank, disp, target_count, target_type}, nullptr));
}
SHMEMX_BOTH_NAMES(Put_c, 8)

SHMEMX_ENTRY int PMPI_Get_c(void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint disp,
                            MPI_Count target_count, MPI_Datatype target_type, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr) return below().Get_c(origin, count, type, rank, disp, target_count, target_type, win);
  return finish(*window, "MPI_Get_c",
                interpose::get(*window, local(origin, count, type), {rank, disp, target_count, target_type}, nullptr));
}
SHMEMX_BOTH_NAMES(Get_c, 8)

SHMEMX_ENTRY int PMPI_Accumulate_c(const void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint disp,
                                   MPI_Count target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr)
    return below().Accumulate_c(origin, count, type, rank, disp, target_count, target_type, op, win);
  const Remote remote{rank, disp, target_count, target_type};
  return finish(*window, "MPI_Accumulate_c",
                interpose::accumulate(*window, local(origin, count, type), remote, op, nullptr));
}
SHMEMX_BOTH_NAMES(Accumulate_c, 9)

SHMEMX_ENTRY int PMPI_Get_accumulate_c(const void* origin, MPI_Count count, MPI_Datatype type, void* result,
                                       MPI_Count result_count, MPI_Datatype result_type, int rank, MPI_Aint disp,
                                       MPI_Count target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  Window* const window = find_window(win);
  if (window == nullptr)
    return below().Get_accumulate_c(origin, count, type, result, result_count, result_type, rank, disp, target_count,
                                    target_type, op, win);
  const Local results = local(result, result_count, result_type);
  const Remote remote{rank, disp, target_count, target_type};
  return finish(*window, "MPI_Get_accumulate_c",
                interpose::get_accumulate(*window, local(origin, count, type), results, remote, op, nullptr));
}
SHMEMX_BOTH_NAMES(Get_accumulate_c, 12)

SHMEMX_ENTRY int PMPI_Rput_c(const void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint disp,
                             MPI_Count target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
  Window* const window = find_window(win);
  if (window == nullptr)
    return below().Rput_c(origin, count, type, rank, disp, target_count, target_type, win, request);
  return with_request(*window, "MPI_Rput_c", rank, request, [&](long* counter) {
    return interpose::put(*window, local(origin, count, type), {rank, disp, target_count, target_type}, counter);
  });
}
SHMEMX_BOTH_NAMES(Rput_c, 9)

SHMEMX_ENTRY int PMPI_Rget_c(void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint disp,
                             MPI_Count target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
  Window* const window = find_window(win);
  if (window == nullptr)
    return below().Rget_c(origin, count, type, rank, disp, target_count, target_type, win, request);
  return with_request(*window, "MPI_Rget_c", rank, request, [&](long* counter) {
    return interpose::get(*window, local(origin, count, type), {rank, disp, target_count, target_type}, counter);
  });
}
SHMEMX_BOTH_NAMES(Rget_c, 9)

SHMEMX_ENTRY int PMPI_Raccumulate_c(const void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint disp,
                                    MPI_Count target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                    MPI_Request* request) {
  Window* const window = find_window(win);
  if (window == nullptr)
    return below().Raccumulate_c(origin, count, type, rank, disp, target_count, target_type, op, win, request);
  const Remote remote{rank, disp, target_count, target_type};
  return with_request(*window, "MPI_Raccumulate_c", rank, request, [&](long* counter) {
    return interpose::accumulate(*window, local(origin, count, type), remote, op, counter);
  });
}
SHMEMX_BOTH_NAMES(Raccumulate_c, 10)

SHMEMX_ENTRY int PMPI_Rget_accumulate_c(const void* origin, MPI_Count count, MPI_Datatype type, void* result,
                                        MPI_Count result_count, MPI_Datatype result_type, int rank, MPI_Aint disp,
                                        MPI_Count target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                        MPI_Request* request) {
  Window* const window = find_window(win);
  if (window == nullptr)
    return below().Rget_accumulate_c(origin, count, type, result, result_count, result_type, rank, disp, target_count,
                                     target_type, op, win, request);
  const Local results = local(result, result_count, result_type);
  const Remote remote{rank, disp, target_count, target_type};
  return with_request(*window, "MPI_Rget_accumulate_c", rank, request, [&](long* counter) {
    return interpose::get_accumulate(*window, local(origin, count, type), results, remote, op, counter);
  });
}
SHMEMX_BOTH_NAMES(Rget_accumulate_c, 13)

#endif
