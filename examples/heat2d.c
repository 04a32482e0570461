/* Heat in a plate: a 2-D stencil on a grid that is cut into one block for each PE.
 *
 * Neighbours write their border cells into each other's halo with put_signal: one
 * operation moves the data and then the flag on which the neighbour waits. There is no barrier
 * between the steps. Two fields alternate, so a neighbour that is one step ahead writes into the
 * other field; it cannot be two ahead, since it waits for our border of the step between.
 *
 * Verified: PE 0 computes the whole plate by itself and compares every cell.
 *
 * Usage: heat2d [picture.png, or - for none] [columns = 480] [rows = 320] [steps = 1000]
 */
#include <math.h>
#include <png.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kNorth, kSouth, kWest, kEast, kSides };

typedef struct {
  int columns, rows;
} extent_t;

typedef struct {
  extent_t plate; /* all PEs together */
  extent_t block; /* this PE's share */
  int first_column, first_row;
  size_t stride;         /* cells from one row to the next, the same on all PEs */
  int neighbour[kSides]; /* -1 at the rim of the plate */
  extent_t neighbour_block[kSides];
  double *field[2];       /* symmetric, with a frame of halo cells */
  double *outgoing;       /* a column, packed */
  double *incoming[2][2]; /* symmetric: [field][0 from the west, 1 from the east] */
} domain_t;

/* Symmetric: number of the last step whose border has arrived from that side. */
static uint64_t arrived[kSides];

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *allocate(void *memory, const char *what) {
  if (memory != NULL) return memory;
  fprintf(stderr, "heat2d: PE %d: no memory for %s\n", shmem_my_pe(), what);
  shmem_global_exit(1);
  return NULL;
}

/* The plate at the start: three hot discs and a warm bar on a cold ground. */
static double initial_heat(extent_t plate, int column, int row) {
  static const double discs[3][4] = {{0.25, 0.30, 0.12, 1.0}, {0.65, 0.35, 0.20, 0.7}, {0.45, 0.75, 0.09, 0.9}};
  const double x = (column + 0.5) / plate.rows, y = (row + 0.5) / plate.rows;
  const double aspect = (double)plate.columns / plate.rows;
  for (int i = 0; i < 3; ++i)
    if (hypot(x - discs[i][0] * aspect, y - discs[i][1]) < discs[i][2]) return discs[i][3];
  return x > 0.9 * aspect && y > 0.6 ? 0.5 : 0.0;
}

/* Cells of `extent` start at field[stride + 1]; the cells around them are halo or the cold rim. */
static void relax(const double *from, double *to, size_t stride, extent_t extent) {
  for (int row = 1; row <= extent.rows; ++row) {
    const double *here = from + (size_t)row * stride, *above = here - stride, *below = here + stride;
    double *out = to + (size_t)row * stride;
    for (int column = 1; column <= extent.columns; ++column) {
      const double around = (above[column] + below[column]) + (here[column - 1] + here[column + 1]);
      out[column] = here[column] + 0.2 * (around - 4.0 * here[column]);
    }
  }
}

/* Returns the start of the i-th of n near-equal parts of `length`. */
static int part_begin(int length, int n, int i) { return (int)((long)length * i / n); }

/* Chooses the most square grid of PEs: a prime number of PEs gives one row of blocks. */
static extent_t pe_grid(int pe_count) {
  int rows = 1;
  for (int i = 2; i * i <= pe_count; ++i)
    if (pe_count % i == 0) rows = i;
  return (extent_t){pe_count / rows, rows};
}

static extent_t block_at(extent_t plate, extent_t grid, int x, int y) {
  return (extent_t){part_begin(plate.columns, grid.columns, x + 1) - part_begin(plate.columns, grid.columns, x),
                    part_begin(plate.rows, grid.rows, y + 1) - part_begin(plate.rows, grid.rows, y)};
}

static void find_neighbours(domain_t *d, extent_t grid) {
  static const int step_x[kSides] = {0, 0, -1, 1}, step_y[kSides] = {-1, 1, 0, 0};
  const int x = shmem_my_pe() % grid.columns, y = shmem_my_pe() / grid.columns;
  for (int side = 0; side < kSides; ++side) {
    const int nx = x + step_x[side], ny = y + step_y[side];
    const int inside = nx >= 0 && nx < grid.columns && ny >= 0 && ny < grid.rows;
    d->neighbour[side] = inside ? ny * grid.columns + nx : -1;
    d->neighbour_block[side] = inside ? block_at(d->plate, grid, nx, ny) : (extent_t){0, 0};
  }
}

static void set_up(domain_t *d, extent_t plate) {
  const extent_t grid = pe_grid(shmem_n_pes());
  const int x = shmem_my_pe() % grid.columns, y = shmem_my_pe() / grid.columns;
  d->plate = plate;
  d->block = block_at(plate, grid, x, y);
  d->first_column = part_begin(plate.columns, grid.columns, x);
  d->first_row = part_begin(plate.rows, grid.rows, y);
  find_neighbours(d, grid);

  /* Symmetric objects have the same size on all PEs, so that of the largest block. */
  const size_t max_columns = (size_t)plate.columns / (size_t)grid.columns + 1;
  const size_t max_rows = (size_t)plate.rows / (size_t)grid.rows + 1;
  d->stride = max_columns + 2;
  for (int f = 0; f < 2; ++f) {
    d->field[f] = allocate(shmem_calloc(d->stride * (max_rows + 2), sizeof(double)), "the field");
    for (int side = 0; side < 2; ++side)
      d->incoming[f][side] = allocate(shmem_calloc(max_rows, sizeof(double)), "a column");
  }
  d->outgoing = allocate(malloc(max_rows * sizeof(double)), "a column");
  for (int row = 0; row < d->block.rows; ++row)
    for (int column = 0; column < d->block.columns; ++column)
      d->field[0][(size_t)(row + 1) * d->stride + (size_t)column + 1] =
          initial_heat(plate, d->first_column + column, d->first_row + row);
}

static void tear_down(domain_t *d) {
  free(d->outgoing);
  for (int f = 1; f >= 0; --f) {
    for (int side = 1; side >= 0; --side) shmem_free(d->incoming[f][side]);
    shmem_free(d->field[f]);
  }
}

static void send_row(domain_t *d, int f, int side, uint64_t step) {
  const int pe = d->neighbour[side];
  if (pe < 0) return;
  const size_t mine = side == kNorth ? 1 : (size_t)d->block.rows;
  const size_t theirs = side == kNorth ? (size_t)d->neighbour_block[side].rows + 1 : 0;
  double *field = d->field[f];
  shmem_double_put_signal(field + theirs * d->stride + 1, field + mine * d->stride + 1, (size_t)d->block.columns,
                          &arrived[side == kNorth ? kSouth : kNorth], step, SHMEM_SIGNAL_SET, pe);
}

static void send_column(domain_t *d, int f, int side, uint64_t step) {
  const int pe = d->neighbour[side];
  if (pe < 0) return;
  const size_t column = side == kWest ? 1 : (size_t)d->block.columns;
  for (int row = 0; row < d->block.rows; ++row) d->outgoing[row] = d->field[f][(size_t)(row + 1) * d->stride + column];
  shmem_double_put_signal(d->incoming[f][side == kWest], d->outgoing, (size_t)d->block.rows,
                          &arrived[side == kWest ? kEast : kWest], step, SHMEM_SIGNAL_SET, pe);
}

static void receive_column(domain_t *d, int f, int side) {
  const size_t halo = side == kWest ? 0 : (size_t)d->block.columns + 1;
  for (int row = 0; row < d->block.rows; ++row)
    d->field[f][(size_t)(row + 1) * d->stride + halo] = d->incoming[f][side == kEast][row];
}

static void exchange_halo(domain_t *d, int f, uint64_t step) {
  send_row(d, f, kNorth, step);
  send_row(d, f, kSouth, step);
  send_column(d, f, kWest, step);
  send_column(d, f, kEast, step);
  for (int side = 0; side < kSides; ++side) {
    if (d->neighbour[side] < 0) continue;
    shmem_signal_wait_until(&arrived[side], SHMEM_CMP_GE, step);
    if (side == kWest || side == kEast) receive_column(d, f, side);
  }
}

/* Writes this PE's rows into PE 0's image of the plate (symmetric). */
static void gather(const domain_t *d, const double *field, double *image) {
  for (int row = 0; row < d->block.rows; ++row)
    shmem_double_put_nbi(image + (size_t)(d->first_row + row) * (size_t)d->plate.columns + (size_t)d->first_column,
                         field + (size_t)(row + 1) * d->stride + 1, (size_t)d->block.columns, 0);
  shmem_barrier_all();
}

static double largest_difference(extent_t plate, int steps, const double *image) {
  const size_t stride = (size_t)plate.columns + 2;
  double *field[2];
  for (int f = 0; f < 2; ++f)
    field[f] = allocate(calloc(stride * ((size_t)plate.rows + 2), sizeof(double)), "the serial plate");
  for (int row = 0; row < plate.rows; ++row)
    for (int column = 0; column < plate.columns; ++column)
      field[0][(size_t)(row + 1) * stride + (size_t)column + 1] = initial_heat(plate, column, row);
  for (int step = 0; step < steps; ++step) relax(field[step % 2], field[(step + 1) % 2], stride, plate);

  double worst = 0;
  for (int row = 0; row < plate.rows; ++row)
    for (int column = 0; column < plate.columns; ++column)
      worst = fmax(worst, fabs(field[steps % 2][(size_t)(row + 1) * stride + (size_t)column + 1] -
                               image[(size_t)row * (size_t)plate.columns + (size_t)column]));
  free(field[0]);
  free(field[1]);
  return worst;
}

/* Black, red, yellow, white. */
static void colour(double heat, png_byte rgb[3]) {
  for (int channel = 0; channel < 3; ++channel) {
    const double level = 3.0 * sqrt(heat) - channel;
    rgb[channel] = (png_byte)(255.0 * fmin(1.0, fmax(0.0, level)));
  }
}

static int write_picture(const char *path, extent_t plate, const double *image) {
  const size_t cells = (size_t)plate.columns * (size_t)plate.rows;
  png_byte *pixels = allocate(malloc(3 * cells), "the picture");
  for (size_t i = 0; i < cells; ++i) colour(image[i], pixels + 3 * i);

  png_image png;
  memset(&png, 0, sizeof png);
  png.version = PNG_IMAGE_VERSION;
  png.format = PNG_FORMAT_RGB;
  png.width = (png_uint_32)plate.columns;
  png.height = (png_uint_32)plate.rows;
  const int ok = png_image_write_to_file(&png, path, 0, pixels, 0, NULL);
  free(pixels);
  if (ok)
    printf("heat2d: picture in %s\n", path);
  else
    fprintf(stderr, "heat2d: cannot write %s: %s\n", path, png.message);
  return ok;
}

static int run(extent_t plate, int steps, const char *path) {
  domain_t d;
  set_up(&d, plate);
  double *image = allocate(shmem_malloc((size_t)plate.columns * (size_t)plate.rows * sizeof *image), "the image");
  shmem_barrier_all();

  const double start = now_seconds();
  for (int step = 0; step < steps; ++step) {
    exchange_halo(&d, step % 2, (uint64_t)step + 1);
    relax(d.field[step % 2], d.field[(step + 1) % 2], d.stride, d.block);
  }
  shmem_barrier_all();
  const double seconds = now_seconds() - start;
  gather(&d, d.field[steps % 2], image);

  int ok = 1;
  if (shmem_my_pe() == 0) {
    const extent_t grid = pe_grid(shmem_n_pes());
    const double worst = largest_difference(plate, steps, image);
    ok = worst <= 1e-12;
    printf("heat2d: %d PEs as %d x %d, %d x %d cells, %d steps in %.3f s, largest difference to serial %.1e: %s\n",
           shmem_n_pes(), grid.columns, grid.rows, plate.columns, plate.rows, steps, seconds, worst,
           ok ? "verified" : "WRONG");
    if (strcmp(path, "-") != 0) ok = write_picture(path, plate, image) && ok;
  }
  shmem_free(image);
  tear_down(&d);
  return ok ? 0 : 1;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "heat.png";
  const extent_t plate = {argc > 2 ? atoi(argv[2]) : 480, argc > 3 ? atoi(argv[3]) : 320};
  const int steps = argc > 4 ? atoi(argv[4]) : 1000;
  shmem_init();
  const extent_t grid = pe_grid(shmem_n_pes());
  if (plate.columns < grid.columns || plate.rows < grid.rows || steps < 0) {
    if (shmem_my_pe() == 0)
      fprintf(stderr, "usage: %s [picture.png or -] [columns, %d..] [rows, %d..] [steps, 0..]\n", argv[0], grid.columns,
              grid.rows);
    shmem_finalize();
    return 2;
  }
  const int status = run(plate, steps, path);
  shmem_finalize();
  return status;
}
