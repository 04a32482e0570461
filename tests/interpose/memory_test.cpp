// Memory of MPI_Alloc_mem: windows over it, and what forked children share. SHMEMX_MPI_ALLOC_MEM tells which it is.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "mpi_test.hpp"

using mpi_test::left;
using mpi_test::rank;
using mpi_test::right;

namespace {

bool is_private() {
  const char* const value = std::getenv("SHMEMX_MPI_ALLOC_MEM");
  return value != nullptr && std::string(value) == "private";
}

}  // namespace

CASE(children_share_allocated_memory_unless_it_is_private) {
  long* memory = nullptr;
  MPI_Alloc_mem(64 * sizeof(long), MPI_INFO_NULL, &memory);
  memory[5] = 1;
  const pid_t child = ::fork();
  if (child == 0) {
    memory[5] = 2;
    ::_exit(0);
  }
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child && status == 0);
  CHECK_EQUAL(memory[5], is_private() ? 1L : 2L);
  MPI_Free_mem(memory);
}

CASE(windows_over_allocated_memory) {
  long* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Alloc_mem(64 * sizeof(long), MPI_INFO_NULL, &memory);
  memory[3] = -1;
  MPI_Win_create(memory, 64 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  const long value = 100 + rank;
  MPI_Win_fence(0, win);
  MPI_Put(&value, 1, MPI_LONG, right(), 3, 1, MPI_LONG, win);
  MPI_Win_fence(0, win);
  CHECK_EQUAL(memory[3], 100L + left());
  MPI_Win_free(&win);
  MPI_Free_mem(memory);
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
