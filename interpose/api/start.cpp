// The MPI begins.
#include "interpose/api/entry.hpp"
#include "interpose/below.hpp"
#include "interpose/job.hpp"

using shmemx::interpose::below;
using shmemx::interpose::find_below;
using shmemx::interpose::start_job;
using shmemx::interpose::tools;

// A tool's routine leads to PMPI_Init, in which everything happens.
SHMEMX_ENTRY int PMPI_Init(int* argc, char*** argv) {
  find_below(__builtin_return_address(0));
  const int code = below().Init(argc, argv);
  if (code == MPI_SUCCESS) start_job();
  return code;
}
SHMEMX_ENTRY int MPI_Init(int* argc, char*** argv) {
  find_below(__builtin_return_address(0));
  return tools().Init != nullptr ? tools().Init(argc, argv) : PMPI_Init(argc, argv);
}

SHMEMX_ENTRY int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  find_below(__builtin_return_address(0));
  const int code = below().Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) start_job();
  return code;
}
SHMEMX_ENTRY int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  find_below(__builtin_return_address(0));
  return tools().Init_thread != nullptr ? tools().Init_thread(argc, argv, required, provided)
                                        : PMPI_Init_thread(argc, argv, required, provided);
}
