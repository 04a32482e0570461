// The first agreement of the processes of a job, before which nobody knows whether all of them have this library.
#pragma once

namespace shmemx::interpose {

// Returns true if all processes of MPI_COMM_WORLD pass true. Collective. A process without this library does not take
// part, so the job ends with a line if that takes longer than SHMEMX_MPI_START_TIMEOUT.
bool meet_first(bool here);

}  // namespace shmemx::interpose
