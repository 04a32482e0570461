// Routines of the MPI in which a process often waits while others operate on its windows.
#include "interpose/api/entry.hpp"
#include "interpose/below.hpp"
#include "interpose/serving.hpp"

namespace interpose = shmemx::interpose;
using interpose::below;

namespace {

// Waits for a request that has been started.
int finish_request(MPI_Request* request, MPI_Status* status) {
  return interpose::test_until_done([&](int* done) { return below().Test(request, done, status); });
}

}  // namespace

SHMEMX_ENTRY int PMPI_Barrier(MPI_Comm communicator) {
  if (!interpose::serves_in_barrier(communicator)) return below().Barrier(communicator);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = below().Ibarrier(communicator, &request);
  return code != MPI_SUCCESS ? code : finish_request(&request, MPI_STATUS_IGNORE);
}
SHMEMX_BOTH_NAMES(Barrier, 1)

SHMEMX_ENTRY int PMPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm communicator,
                           MPI_Status* status) {
  // From MPI_PROC_NULL it waits for nothing, and the status of MPICH 4.0.2's test is not that of its receive.
  if (source == MPI_PROC_NULL || !interpose::serves_in_waits())
    return below().Recv(buffer, count, type, source, tag, communicator, status);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = below().Irecv(buffer, count, type, source, tag, communicator, &request);
  return code != MPI_SUCCESS ? code : finish_request(&request, status);
}
SHMEMX_BOTH_NAMES(Recv, 7)

SHMEMX_ENTRY int PMPI_Probe(int source, int tag, MPI_Comm communicator, MPI_Status* status) {
  if (!interpose::serves_in_waits()) return below().Probe(source, tag, communicator, status);
  return interpose::test_until_done(
      [&](int* found) { return below().Iprobe(source, tag, communicator, found, status); });
}
SHMEMX_BOTH_NAMES(Probe, 4)
