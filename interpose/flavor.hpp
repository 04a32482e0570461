// Which MPI this library was compiled for, and whether the one that runs is that.
#pragma once

#include <mpi.h>

namespace shmemx::interpose {

// Ends the process with a line unless the version that the MPI tells is of MPICH or Open MPI, as this library is for,
// or SHMEMX_MPI_FLAVOR says that it has that ABI. `file`: of the MPI. May be called before MPI_Init.
void check_flavor(decltype(&PMPI_Get_library_version) get_version, const char* file);

}  // namespace shmemx::interpose
