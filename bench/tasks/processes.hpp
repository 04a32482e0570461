// The processes of a job in terms of the library under test: this one, or an MPI with BENCH_MPI.
#pragma once

#if defined(BENCH_MPI)
#include <mpi.h>
#else
#include <shmemx.h>
#endif

namespace shmemx::bench {

#if defined(BENCH_MPI)
inline int me() {
  int pe;
  MPI_Comm_rank(MPI_COMM_WORLD, &pe);
  return pe;
}
inline int pes() {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}
inline void synchronize() { MPI_Barrier(MPI_COMM_WORLD); }
inline void begin_job(int* argc, char*** argv) { MPI_Init(argc, argv); }
inline void end_job() { MPI_Finalize(); }
#else
inline int me() { return shmem_my_pe(); }
inline int pes() { return shmem_n_pes(); }
inline void synchronize() { shmem_barrier_all(); }
inline void begin_job(int*, char***) { shmem_init(); }
inline void end_job() { shmem_finalize(); }
#endif

}  // namespace shmemx::bench
