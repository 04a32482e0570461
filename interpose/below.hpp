// The MPI below: the routines of the MPI library whose names this library takes over.
//
// Both names of a routine, MPI_X and PMPI_X, are taken over, since Fortran wrappers and tools call the second one. So
// a routine of this library that means the MPI's own calls it through this table. All other routines are called by
// their PMPI_ names.
#pragma once

#include <mpi.h>

#include "interpose/names.hpp"

namespace shmemx::interpose {

// One pointer for each routine; null if the MPI does not have it, or is not loaded yet.
struct Below {
#define SHMEMX_BELOW_MEMBER(name) decltype(&PMPI_##name) name = nullptr;
  SHMEMX_TAKEN_OVER(SHMEMX_BELOW_MEMBER)
#undef SHMEMX_BELOW_MEMBER
};

namespace detail {
extern Below below_table;
}
inline const Below& below() noexcept { return detail::below_table; }

// Called when the MPI is initialised: finds it, if it was loaded after this library.
void find_below();

}  // namespace shmemx::interpose
