/* Prints a short table of the cost of one-sided operations between PE 0 and its neighbour PE 1 (itself if
 * alone). The other PEs wait in a barrier. Every transfer is checked.
 *
 * For figures to compare libraries with, see bench/run.sh.
 *
 * Usage: latency [largest size in bytes = 2097152] [calls in a batch = 4096]
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBatches = 9, kWindow = 16 };

typedef struct {
  unsigned char *local, *remote; /* remote is symmetric */
  size_t bytes;
  long calls; /* in a batch */
  int peer;
} transfer_t;

static long counter; /* symmetric: the target of the atomics */

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void put_each(const transfer_t *t) {
  for (long i = 0; i < t->calls; ++i) {
    shmem_putmem(t->remote, t->local, t->bytes, t->peer);
    shmem_quiet();
  }
}

static void get_each(const transfer_t *t) {
  for (long i = 0; i < t->calls; ++i) shmem_getmem(t->local, t->remote, t->bytes, t->peer);
}

static void put_window(const transfer_t *t) {
  for (long i = 0; i < t->calls; ++i) {
    shmem_putmem_nbi(t->remote, t->local, t->bytes, t->peer);
    if ((i + 1) % kWindow == 0) shmem_quiet();
  }
  shmem_quiet();
}

static void fetch_add_each(const transfer_t *t) {
  for (long i = 0; i < t->calls; ++i) (void)shmem_long_atomic_fetch_add(&counter, 1, t->peer);
}

static void compare_swap_each(const transfer_t *t) {
  for (long i = 0; i < t->calls; ++i) (void)shmem_long_atomic_compare_swap(&counter, i, i + 1, t->peer);
}

/* Returns microseconds for one call: the median over the batches, after one batch to warm up. */
static double median_us(void (*batch)(const transfer_t *), const transfer_t *t) {
  double us[kBatches];
  batch(t);
  for (int i = 0; i < kBatches; ++i) {
    const double start = now_us();
    batch(t);
    us[i] = (now_us() - start) / (double)t->calls;
  }
  qsort(us, kBatches, sizeof us[0], by_value);
  return us[kBatches / 2];
}

/* Puts a pattern and gets it back. */
static int survives(const transfer_t *t) {
  for (size_t i = 0; i < t->bytes; ++i) t->local[i] = (unsigned char)(i * 31 + t->bytes % 251);
  shmem_putmem(t->remote, t->local, t->bytes, t->peer);
  shmem_quiet();
  memset(t->local, 0, t->bytes);
  shmem_getmem(t->local, t->remote, t->bytes, t->peer);
  for (size_t i = 0; i < t->bytes; ++i)
    if (t->local[i] != (unsigned char)(i * 31 + t->bytes % 251)) return 0;
  return 1;
}

static int print_sizes(transfer_t t, size_t largest, long calls) {
  int ok = 1;
  printf("# One-sided, PE 0 to PE %d\n# %10s %14s %14s %16s\n", t.peer, "Size", "Put (us)", "Get (us)",
         "Put BW (MB/s)");
  for (t.bytes = 8; t.bytes <= largest; t.bytes *= 8) {
    t.calls = t.bytes < 4096 ? calls : calls * 4096 / (long)t.bytes / 4 + kWindow;
    ok = survives(&t) && ok;
    const double put = median_us(put_each, &t);
    const double get = median_us(get_each, &t);
    const double stream = median_us(put_window, &t);
    ok = survives(&t) && ok;
    printf("  %10zu %14.3f %14.3f %16.1f\n", t.bytes, put, get, (double)t.bytes / stream);
  }
  return ok;
}

static int print_atomics(transfer_t t, long calls) {
  t.calls = calls;
  shmem_long_atomic_set(&counter, 0, t.peer);
  shmem_quiet();
  const double add = median_us(fetch_add_each, &t);
  int ok = shmem_long_atomic_fetch(&counter, t.peer) == t.calls * (kBatches + 1);
  shmem_long_atomic_set(&counter, 0, t.peer);
  shmem_quiet();
  const double swap = median_us(compare_swap_each, &t);
  ok = shmem_long_atomic_fetch(&counter, t.peer) == t.calls && ok; /* only the first batch can win */
  printf("# 8-byte atomics\n  %-25s %14.3f us\n  %-25s %14.3f us\n", "fetch_add", add, "compare_swap", swap);
  return ok;
}

static double barrier_us(void) {
  enum { kBarriers = 1000 };
  shmem_barrier_all();
  const double start = now_us();
  for (int i = 0; i < kBarriers; ++i) shmem_barrier_all();
  return (now_us() - start) / kBarriers;
}

int main(int argc, char **argv) {
  const size_t largest = argc > 1 ? strtoul(argv[1], NULL, 0) : (size_t)1 << 21;
  const long calls = argc > 2 ? strtol(argv[2], NULL, 0) : 4096;
  if (largest < 8 || calls < 1) {
    fprintf(stderr, "usage: %s [largest size in bytes, 8..] [calls in a batch, 1..]\n", argv[0]);
    return 2;
  }
  shmem_init();
  const int me = shmem_my_pe();
  const int pe_count = shmem_n_pes();
  transfer_t t = {.local = malloc(largest), .remote = shmem_malloc(largest), .peer = 1 % pe_count};
  if (t.local == NULL || t.remote == NULL) {
    fprintf(stderr, "latency: PE %d: no memory for %zu bytes\n", me, largest);
    shmem_global_exit(1);
  }
  memset(t.local, 1, largest);

  int ok = 1;
  if (me == 0) ok = print_sizes(t, largest, calls) && print_atomics(t, calls);
  const double barrier = barrier_us();
  if (me == 0) {
    printf("# barrier_all of %d PEs\n  %-25s %14.3f us\n", pe_count, "barrier_all", barrier);
    printf("latency: %s\n", ok ? "all data verified" : "WRONG data");
  }
  shmem_free(t.remote);
  free(t.local);
  shmem_finalize();
  return ok ? 0 : 1;
}
