// The MPI begins.
#include "interpose/api/entry.hpp"
#include "interpose/below.hpp"
#include "interpose/job.hpp"

using shmemx::interpose::below;
using shmemx::interpose::start_job;

SHMEMX_ENTRY int PMPI_Init(int* argc, char*** argv) {
  shmemx::interpose::find_below();
  const int code = below().Init(argc, argv);
  if (code == MPI_SUCCESS) start_job();
  return code;
}
SHMEMX_BOTH_NAMES(Init)

SHMEMX_ENTRY int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  shmemx::interpose::find_below();
  const int code = below().Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) start_job();
  return code;
}
SHMEMX_BOTH_NAMES(Init_thread)
