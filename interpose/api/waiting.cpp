// The routines that wait for requests, or test them. Those of one-sided operations are completed first.
#include "interpose/api/entry.hpp"
#include "interpose/below.hpp"
#include "interpose/request.hpp"
#include "interpose/serving.hpp"

using shmemx::interpose::before_test;
using shmemx::interpose::before_wait;
using shmemx::interpose::below;
using shmemx::interpose::serves_in_waits;
using shmemx::interpose::test_until_done;

SHMEMX_ENTRY int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  before_wait();
  if (!serves_in_waits()) return below().Wait(request, status);
  return test_until_done([&](int* done) { return below().Test(request, done, status); });
}
SHMEMX_BOTH_NAMES(Wait, 2)

SHMEMX_ENTRY int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  before_wait();
  if (!serves_in_waits()) return below().Waitall(count, requests, statuses);
  return test_until_done([&](int* done) { return below().Testall(count, requests, done, statuses); });
}
SHMEMX_BOTH_NAMES(Waitall, 3)

SHMEMX_ENTRY int PMPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  before_wait();
  if (!serves_in_waits()) return below().Waitany(count, requests, index, status);
  return test_until_done([&](int* done) { return below().Testany(count, requests, index, done, status); });
}
SHMEMX_BOTH_NAMES(Waitany, 4)

SHMEMX_ENTRY int PMPI_Waitsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  before_wait();
  if (!serves_in_waits()) return below().Waitsome(count, requests, done, indices, statuses);
  return test_until_done([&](int* any) {
    const int code = below().Testsome(count, requests, done, indices, statuses);
    *any = *done != 0 ? 1 : 0;
    return code;
  });
}
SHMEMX_BOTH_NAMES(Waitsome, 5)

SHMEMX_ENTRY int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  before_test();
  return below().Test(request, flag, status);
}
SHMEMX_BOTH_NAMES(Test, 3)

SHMEMX_ENTRY int PMPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  before_test();
  return below().Testall(count, requests, flag, statuses);
}
SHMEMX_BOTH_NAMES(Testall, 4)

SHMEMX_ENTRY int PMPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  before_test();
  return below().Testany(count, requests, index, flag, status);
}
SHMEMX_BOTH_NAMES(Testany, 5)

SHMEMX_ENTRY int PMPI_Testsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  before_test();
  return below().Testsome(count, requests, done, indices, statuses);
}
SHMEMX_BOTH_NAMES(Testsome, 5)

SHMEMX_ENTRY int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  before_test();
  return below().Request_get_status(request, flag, status);
}
SHMEMX_BOTH_NAMES(Request_get_status, 3)

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)

SHMEMX_ENTRY int PMPI_Request_get_status_all(int count, const MPI_Request requests[], int* flag,
                                             MPI_Status statuses[]) {
  before_test();
  return below().Request_get_status_all(count, requests, flag, statuses);
}
SHMEMX_BOTH_NAMES(Request_get_status_all, 4)

SHMEMX_ENTRY int PMPI_Request_get_status_any(int count, const MPI_Request requests[], int* index, int* flag,
                                             MPI_Status* status) {
  before_test();
  return below().Request_get_status_any(count, requests, index, flag, status);
}
SHMEMX_BOTH_NAMES(Request_get_status_any, 5)

SHMEMX_ENTRY int PMPI_Request_get_status_some(int count, const MPI_Request requests[], int* done, int indices[],
                                              MPI_Status statuses[]) {
  before_test();
  return below().Request_get_status_some(count, requests, done, indices, statuses);
}
SHMEMX_BOTH_NAMES(Request_get_status_some, 5)

#endif
