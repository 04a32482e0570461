// Windows are created and freed.
#pragma once

#include <mpi.h>

#include "interpose/window.hpp"

namespace shmemx::interpose {

// What MPI_Win_create and its relatives ask for.
struct Wanted {
  int flavor;
  void* base;
  MPI_Aint bytes;
  MPI_Aint disp_unit;
  bool has_place;  // for the results
};

struct Created {
  bool is_taken;  // false: all processes leave the window to the MPI below, and nothing has been done
  int error_class;
  void* base;
};

// Collective over the communicator. The processes agree on whether the window is taken over.
Created create(const char* routine, const Wanted& wanted, MPI_Info info, MPI_Comm communicator, MPI_Win* win);

// Returns an error class if an epoch is open.
int check_free(const Window& window);

// Collective over the window. Completes all operations. Calls the window's handler before it is gone; returns an error
// class.
int free_window(Window& window, MPI_Win* win);

}  // namespace shmemx::interpose
