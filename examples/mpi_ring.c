/* A one-sided MPI program, which knows nothing of shmemx: each process puts its number into a window of its right
   neighbour, and takes tickets from a counter of the first one. docs/interposer.md runs it by shmemx-rma. */
#include <mpi.h>
#include <stdio.h>

enum { kTickets = 1000 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int me, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  long *mine; /* [0]: from the left neighbour, [1]: the counter */
  MPI_Win window;
  MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
  mine[0] = mine[1] = 0;
  MPI_Barrier(MPI_COMM_WORLD);

  const long number = me, one = 1;
  long last = -1;
  MPI_Win_lock_all(0, window);
  MPI_Put(&number, 1, MPI_LONG, (me + 1) % ranks, 0, 1, MPI_LONG, window);
  for (int i = 0; i < kTickets; ++i) {
    MPI_Fetch_and_op(&one, &last, MPI_LONG, 0, 1, MPI_SUM, window);
    MPI_Win_flush(0, window);
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);

  const int is_right = mine[0] == (me + ranks - 1) % ranks && (me != 0 || mine[1] == (long)kTickets * ranks);
  printf("rank %d of %d got %ld\n", me, ranks, mine[0]);
  MPI_Win_free(&window);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
