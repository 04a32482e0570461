/* One program with MPI and OpenSHMEM: heat spreads along a ring of cells that all processes share.
 *
 * OpenSHMEM moves the border cells, since a put with a signal needs no matching receive. MPI does the rest: it reads the
 * arguments on one process and sums up the heat, which has to stay the same.
 *
 * Usage: mpiexec -n 4 ./hybrid [cells of a process] [steps]
 */
#include <math.h>
#include <mpi.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>

/* What OpenSHMEM needs of MPI to start: no interface of the launcher is used again. */
static int gather(const void *mine, void *all, size_t bytes, void *everybody) {
  return MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, *(MPI_Comm *)everybody);
}
static int meet(void *everybody) { return MPI_Barrier(*(MPI_Comm *)everybody); }
static void give_up(int status, void *everybody) {
  int is_over = 0;
  MPI_Finalized(&is_over);
  if (!is_over) MPI_Abort(*(MPI_Comm *)everybody, status);
}

static void start_shmem(MPI_Comm *everybody) {
  shmemx_init_attr_t attributes = {0};
  attributes.bytes = sizeof attributes;
  MPI_Comm_rank(*everybody, &attributes.my_pe);
  MPI_Comm_size(*everybody, &attributes.n_pes);
  attributes.allgather = gather;
  attributes.barrier = meet;
  attributes.abort = give_up;
  attributes.user = everybody;
  const int result = shmemx_init_attr(&attributes, NULL);
  if (result == SHMEMX_SUCCESS) return;
  fprintf(stderr, "OpenSHMEM does not start: %s\n", shmemx_error_text(result));
  MPI_Abort(*everybody, 1);
}

/* The signals count steps: border cells of step s are there when both are s or more. */
static uint64_t signal_of_left, signal_of_right;

/* Takes `steps` steps on `cells` cells; cells[0] and cells[n + 1] are copies of the neighbours' border cells. */
static void spread(double *cells, double *next, long n, long steps) {
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  const int left = (me + pes - 1) % pes, right = (me + 1) % pes;
  for (long step = 1; step <= steps; ++step) {
    shmem_double_put_signal(&cells[n + 1], &cells[1], 1, &signal_of_right, (uint64_t)step, SHMEM_SIGNAL_SET, left);
    shmem_double_put_signal(&cells[0], &cells[n], 1, &signal_of_left, (uint64_t)step, SHMEM_SIGNAL_SET, right);
    shmem_signal_wait_until(&signal_of_left, SHMEM_CMP_GE, (uint64_t)step);
    shmem_signal_wait_until(&signal_of_right, SHMEM_CMP_GE, (uint64_t)step);
    for (long i = 1; i <= n; ++i) next[i] = cells[i] + 0.25 * (cells[i - 1] - 2 * cells[i] + cells[i + 1]);
    MPI_Barrier(MPI_COMM_WORLD); /* all have read their copies */
    for (long i = 1; i <= n; ++i) cells[i] = next[i];
  }
}

static double total_heat(const double *cells, long n) {
  double mine = 0, all = 0;
  for (long i = 1; i <= n; ++i) mine += cells[i];
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm everybody = MPI_COMM_WORLD;
  start_shmem(&everybody);

  long sizes[2] = {1000, 200}; /* cells, steps */
  if (shmem_my_pe() == 0) {
    if (argc > 1) sizes[0] = atol(argv[1]);
    if (argc > 2) sizes[1] = atol(argv[2]);
  }
  MPI_Bcast(sizes, 2, MPI_LONG, 0, everybody);

  double *cells = shmem_calloc((size_t)sizes[0] + 2, sizeof(double));
  double *next = calloc((size_t)sizes[0] + 2, sizeof(double));
  if (cells == NULL || next == NULL) MPI_Abort(everybody, 1);
  cells[1] = 100.0 * (shmem_my_pe() + 1); /* all heat is at the left border at first */
  const double before = total_heat(cells, sizes[0]);
  shmem_barrier_all();
  spread(cells, next, sizes[0], sizes[1]);
  const double after = total_heat(cells, sizes[0]);

  const int ok = fabs(after - before) < 1e-9 * before && (sizes[1] == 0 || cells[1] < 100.0 * (shmem_my_pe() + 1));
  if (shmem_my_pe() == 0) printf("%.6f before, %.6f after %ld steps%s\n", before, after, sizes[1], ok ? "" : " (wrong)");
  free(next);
  shmem_free(cells);
  shmem_finalize();
  MPI_Finalize();
  return ok ? 0 : 1;
}
