// A program whose calls a tool counts: rank 0 makes 1 Init, 2 Barrier, 5 Put, 4 fences, 1 Wait and 1 Send.
#include <mpi.h>

#include <cstdio>

namespace {

// Returns whether the puts of the left neighbour have arrived.
bool puts_arrive(int rank, int ranks) {
  long* data = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate(5 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &data, &win);
  for (int i = 0; i < 5; ++i) data[i] = -1;
  MPI_Win_fence(0, win);
  MPI_Win_fence(0, win);
  const long value = rank;
  for (int i = 0; i < 5; ++i) MPI_Put(&value, 1, MPI_LONG, (rank + 1) % ranks, i, 1, MPI_LONG, win);
  MPI_Win_fence(0, win);
  bool holds = true;
  for (int i = 0; i < 5; ++i) holds = holds && data[i] == (rank + ranks - 1) % ranks;
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  return holds;
}

bool messages_arrive(int rank, int ranks) {
  int from_left = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&from_left, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &request);
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return from_left == (rank + ranks - 1) % ranks;
}

}  // namespace

int main(int argc, char** argv) {
  int rank = 0;
  int ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  const bool holds = puts_arrive(rank, ranks) && messages_arrive(rank, ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!holds) std::printf("rank %d: wrong data\n", rank);
  MPI_Finalize();
  return holds ? 0 : 1;
}
