// The MPI below: its routines, found by their addresses when the program first calls one of this library's.
//
// Both names of a routine, MPI_X and PMPI_X, are taken over, since Fortran wrappers and tools call the second one. So
// this library never calls the MPI by a name.
#pragma once

#include <mpi.h>

#include "interpose/names.hpp"

namespace shmemx::interpose {

// One pointer for each routine. A call of one that the MPI does not have ends the process with a line.
struct Below {
#define SHMEMX_BELOW_MEMBER(name) decltype(&PMPI_##name) name;
  SHMEMX_TAKEN_OVER(SHMEMX_BELOW_MEMBER)
  SHMEMX_CALLED(SHMEMX_BELOW_MEMBER)
  SHMEMX_CALLED_IF_THERE(SHMEMX_BELOW_MEMBER)  // null if it is not there
#undef SHMEMX_BELOW_MEMBER
};

// The routines MPI_X of a profiling library that the program would call without this one. It calls PMPI_X, which is
// this library's. Null where there is none, or where the search finds it in front of this library.
struct Tools {
#define SHMEMX_TOOL_MEMBER(name) decltype(&PMPI_##name) name;
  SHMEMX_TAKEN_OVER(SHMEMX_TOOL_MEMBER)
#undef SHMEMX_TOOL_MEMBER
};

namespace detail {
extern Below below_table;
extern Tools tools_table;
}  // namespace detail
inline const Below& below() noexcept { return detail::below_table; }
inline const Tools& tools() noexcept { return detail::tools_table; }

// True if there is any. Then operations take no way so short that a tool would be passed over.
inline bool has_tools = false;

// Finds the MPI that code at this address calls, unless that has been done; ends the process with a line if there is
// none, or one of another kind. Called when the MPI is initialised, and by the first call of anything else.
void find_below(const void* caller);

}  // namespace shmemx::interpose
