/* Step 9: a halo exchange with signals. A rod is cut into one piece for each PE; heat flows from cell to cell. In
 * each step a PE needs one cell of each neighbour. There is no barrier.
 *
 * Each PE computes the whole rod by itself, too, and compares its piece.
 *
 * Usage: oshrun -n 4 ./09_halo
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCells = 50, kSteps = 200 }; /* cells of each PE */
enum { kFromLeft, kFromRight };

/* Cells 1 to kCells are mine; 0 and kCells + 1 are the halo: copies of the neighbours' border cells. Two fields
 * alternate: a step reads one and writes the other. */
static double field[2][kCells + 2];
static uint64_t arrived[2]; /* the number of the last step whose border has arrived from that side */

/* Cells before the start of the rod and behind its end are always cold. */
static double initial(int cell, int cell_count) {
  return cell >= cell_count / 4 && cell < cell_count / 2 ? 100.0 : 0.0;
}

static void relax(const double *from, double *to, int count) {
  for (int i = 1; i <= count; ++i) to[i] = from[i] + 0.25 * (from[i - 1] - 2.0 * from[i] + from[i + 1]);
}

/* Sends my border cells, with the step's number as signal, and waits for those of both neighbours. */
static void exchange(double *cells, uint64_t step, int me, int pe_count) {
  const int has_left = me > 0, has_right = me < pe_count - 1;
  if (has_left)
    shmem_double_put_signal(&cells[kCells + 1], &cells[1], 1, &arrived[kFromRight], step, SHMEM_SIGNAL_SET, me - 1);
  if (has_right)
    shmem_double_put_signal(&cells[0], &cells[kCells], 1, &arrived[kFromLeft], step, SHMEM_SIGNAL_SET, me + 1);

  if (has_left) shmem_signal_wait_until(&arrived[kFromLeft], SHMEM_CMP_GE, step);
  if (has_right) shmem_signal_wait_until(&arrived[kFromRight], SHMEM_CMP_GE, step);
}

/* Computes the whole rod and returns 1 if my piece of it is different. */
static int differs_from_serial(const double *cells, int me, int pe_count) {
  const int cell_count = kCells * pe_count;
  double *rod[2];
  for (int f = 0; f < 2; ++f) {
    rod[f] = calloc((size_t)cell_count + 2, sizeof(double));
    if (rod[f] == NULL) shmem_global_exit(1);
  }
  for (int i = 0; i < cell_count; ++i) rod[0][i + 1] = initial(i, cell_count);
  for (int step = 0; step < kSteps; ++step) relax(rod[step % 2], rod[(step + 1) % 2], cell_count);

  int differs = 0;
  for (int i = 1; i <= kCells; ++i) {
    const double difference = cells[i] - rod[kSteps % 2][me * kCells + i];
    if (difference > 1e-9 || difference < -1e-9) differs = 1;
  }
  free(rod[0]);
  free(rod[1]);
  return differs;
}

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pe_count = shmem_n_pes();

  for (int i = 0; i < kCells; ++i) field[0][i + 1] = initial(me * kCells + i, kCells * pe_count);

  for (int step = 0; step < kSteps; ++step) {
    double *now = field[step % 2], *next = field[(step + 1) % 2];
    exchange(now, (uint64_t)step + 1, me, pe_count);
    relax(now, next, kCells);
  }

  const int wrong = differs_from_serial(field[kSteps % 2], me, pe_count);
  printf("PE %d: cells %d to %d after %d steps are %s\n", me, me * kCells, (me + 1) * kCells - 1, kSteps,
         wrong ? "WRONG" : "as computed by one PE");
  shmem_finalize();
  return wrong;
}
