// Checks of the class of an error, on windows that return their errors.
#pragma once

#include "mpi_test.hpp"

namespace mpi_test {

inline int class_of(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class;
}

struct Returning : TestWindow<long> {
  Returning() : TestWindow(8, Memory::allocated, 0) { MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN); }
};

inline const long kValue = 1;

}  // namespace mpi_test

#define CHECK_CLASS(call, expected) CHECK_EQUAL(mpi_test::class_of(call), (expected))
