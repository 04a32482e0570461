// What a window tells about itself, and the memory of dynamic windows.
#pragma once

#include <mpi.h>

#include "interpose/window.hpp"

namespace shmemx::interpose {

// Returns the value of a predefined attribute; null if the key is none. It points to memory of the window, except for
// MPI_WIN_BASE.
void* attribute(Window& window, int keyval);

// Sets `part` to the process's part of a shared window; for MPI_PROC_NULL to the first part that is not empty, null if
// there is none. Returns an error class.
int find_part(const Window& window, int rank, const Target*& part);

// Adds memory of this process to a dynamic window, and removes it. Return an error class.
int add_memory(Window& window, void* base, MPI_Aint bytes);
int remove_memory(Window& window, const void* base);

}  // namespace shmemx::interpose
