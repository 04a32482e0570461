// One-sided operations.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "interpose/window.hpp"

namespace shmemx::interpose {

// Memory of this process.
struct Local {
  void* address;
  std::int64_t count;
  MPI_Datatype type;
};

// Memory of a process of the window.
struct Remote {
  int rank;
  MPI_Aint disp;
  std::int64_t count;
  MPI_Datatype type;
};

// Put and get are in transfer.hpp, updates of elements without gaps in element_update.hpp. All operations return an
// error class. If the counter is null, flush completes the operation. Otherwise the counter is 0 as soon as the
// operation is complete, which may be on return.
int accumulate_any(Window& window, Local origin, Remote remote, MPI_Op op, long* counter);
// With MPI_NO_OP the origin is not read.
int get_accumulate(Window& window, const Local& origin, const Local& result, const Remote& remote, MPI_Op op,
                   long* counter);

// One element of a predefined type.
struct One {
  const void* origin;
  void* result;
  MPI_Datatype type;
  int rank;
  MPI_Aint disp;
};

// Completes the operations of this process on a target, or on all.
int flush(Window& window, int rank);
int flush_all(Window& window);
int flush_local(Window& window, int rank);
// Starts the small puts to a process, or to all, that wait to leave together.
int start_gathered(Window& window, int rank);
int start_all_gathered(Window& window);
// Lets the target see a notice of control::notify_behind_puts() that follows behind the operations, which are then
// complete here.
int complete_before_notice(Window& window, int rank);
int flush_local_all(Window& window);

}  // namespace shmemx::interpose
