// What a window tells about itself, and the memory of dynamic windows.
#pragma once

#include <mpi.h>

#include "interpose/window.hpp"

namespace shmemx::interpose {

// Sets `value` to that of a predefined attribute, a pointer to memory of the window, or the base itself, which may be
// null. Returns false if the key is none of these.
bool find_attribute(Window& window, int keyval, void*& value);

// Returns a displacement unit as an int; MPI_UNDEFINED if that does not hold it.
int small_disp_unit(MPI_Aint disp_unit) noexcept;

// Sets `part` to the process's memory, if it can be loaded and stored here; for MPI_PROC_NULL to the first one that is
// not empty. Null if there is none. Returns an error class.
int find_part(Window& window, int rank, const Target*& part);

// Returns where the part of a process that has no memory would be in a contiguous shared window of the MPI below; null
// if nobody has any. MPICH has null for such a part.
void* place_of_empty_part(MPI_Win win, int rank);

// Adds memory of this process to a dynamic window, and removes it. Return an error class.
int add_memory(Window& window, void* base, MPI_Aint bytes);
int remove_memory(Window& window, const void* base);

}  // namespace shmemx::interpose
