// Errors: what was wrong, and the window's error handler.
#pragma once

#include <mpi.h>
#include <shmemx.h>

namespace shmemx::interpose {

struct Window;

// Notes what was wrong, for the line that raise prints. Returns the error class.
int wrong(int error_class, const char* what) noexcept;

// The end of a routine that is given a null pointer for what it returns.
inline int no_place() noexcept { return wrong(MPI_ERR_ARG, "a pointer for a result is null"); }

// Returns the error class of a result of shmemx, and notes its text.
int class_of_error(int shmemx_error) noexcept;
inline int class_of(int shmemx_result) noexcept {
  return shmemx_result == SHMEMX_SUCCESS ? MPI_SUCCESS : class_of_error(shmemx_result);
}

// Calls the error handler of the window, or of the communicator. If that ends the job, a line on stderr says what was
// wrong. Returns the error class.
int raise(const Window& window, const char* routine, int error_class);
int raise(MPI_Comm comm, const char* routine, int error_class);

// The end of each routine on a window.
inline int finish(const Window& window, const char* routine, int error_class) {
  if (error_class == MPI_SUCCESS) [[likely]]
    return MPI_SUCCESS;
  return raise(window, routine, error_class);
}

}  // namespace shmemx::interpose
