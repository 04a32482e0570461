// A profiling tool: counts some calls of a program, and rank 0 prints the numbers at the end. It continues with PMPI_X,
// or with the next MPI_X that the dynamic linker finds behind it if TOOL_CALLS_NEXT is defined.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>

#ifdef TOOL_CALLS_NEXT
#define CONTINUE(name) reinterpret_cast<decltype(&MPI_##name)>(::dlsym(RTLD_NEXT, "MPI_" #name))
#else
#define CONTINUE(name) PMPI_##name
#endif

namespace {

struct Counts {
  int init = 0;
  int barrier = 0;
  int put = 0;
  int fence = 0;
  int wait = 0;
  int send = 0;
};
Counts counts;

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  ++counts.init;
  return CONTINUE(Init)(argc, argv);
}

int MPI_Barrier(MPI_Comm communicator) {
  ++counts.barrier;
  return CONTINUE(Barrier)(communicator);
}

int MPI_Put(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int target_count,
            MPI_Datatype target_type, MPI_Win win) {
  ++counts.put;
  return CONTINUE(Put)(origin, count, type, rank, disp, target_count, target_type, win);
}

int MPI_Win_fence(int assert, MPI_Win win) {
  ++counts.fence;
  return CONTINUE(Win_fence)(assert, win);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  ++counts.wait;
  return CONTINUE(Wait)(request, status);
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm communicator) {
  ++counts.send;
  return CONTINUE(Send)(data, count, type, rank, tag, communicator);
}

int MPI_Finalize() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::printf("counted: init %d barrier %d put %d fence %d wait %d send %d\n", counts.init, counts.barrier,
                counts.put, counts.fence, counts.wait, counts.send);
  std::fflush(stdout);
  return CONTINUE(Finalize)();
}

}  // extern "C"
