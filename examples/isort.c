/* Parallel integer sort. All PEs agree on key ranges of about equal load (histogram), tell each
 * other how many keys to expect (alltoall), put the keys to their owners, and sort their own.
 *
 * Verified: the keys ascend within each PE and from PE to PE, and their number, sum and xor are
 * those of the input.
 *
 * Usage: isort [keys of a PE = 1000000]
 */
#include <inttypes.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kKeyBits = 24, kBucketBits = 11, kBuckets = 1 << kBucketBits, kRadix = 256 };

/* Properties that a permutation of the keys preserves. Symmetric, reduced over all PEs. */
typedef struct {
  uint64_t count, sum, mix;
} digest_t;

typedef struct {
  uint32_t *keys;
  size_t count;
} keys_t;

static uint64_t local_histogram[kBuckets], histogram[kBuckets];
static uint64_t word_in, word_out;

static int me, pe_count;

static void *allocate(void *memory, const char *what) {
  if (memory != NULL) return memory;
  fprintf(stderr, "isort: PE %d: no memory for %s\n", me, what);
  shmem_global_exit(1);
  return NULL;
}

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* The mean of four draws: a hump in the middle, so that equal ranges would load PEs unequally. */
static void fill(keys_t keys) {
  uint64_t state = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(me + 1);
  for (size_t i = 0; i < keys.count; ++i) {
    uint64_t sum = 0;
    for (int draw = 0; draw < 4; ++draw) sum += next_random(&state) >> (64 - kKeyBits);
    keys.keys[i] = (uint32_t)(sum / 4);
  }
}

static uint64_t sum_over_all(uint64_t mine) {
  word_in = mine;
  shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, &word_out, &word_in, 1);
  return word_out;
}

static uint64_t max_over_all(uint64_t mine) {
  word_in = mine;
  shmem_uint64_max_reduce(SHMEM_TEAM_WORLD, &word_out, &word_in, 1);
  return word_out;
}

static uint64_t xor_over_all(uint64_t mine) {
  word_in = mine;
  shmem_uint64_xor_reduce(SHMEM_TEAM_WORLD, &word_out, &word_in, 1);
  return word_out;
}

static digest_t digest_of(keys_t keys) {
  uint64_t sum = 0, mix = 0;
  for (size_t i = 0; i < keys.count; ++i) {
    sum += keys.keys[i];
    mix ^= (uint64_t)keys.keys[i] * UINT64_C(0x9e3779b97f4a7c15);
  }
  digest_t all;
  all.count = sum_over_all(keys.count);
  all.sum = sum_over_all(sum);
  all.mix = xor_over_all(mix);
  return all;
}

static unsigned bucket_of(uint32_t key) { return key >> (kKeyBits - kBucketBits); }

/* Buckets go to PEs in order, so that each PE gets about count / pe_count keys. */
static void assign_buckets(keys_t keys, int owner[kBuckets]) {
  memset(local_histogram, 0, sizeof local_histogram);
  for (size_t i = 0; i < keys.count; ++i) ++local_histogram[bucket_of(keys.keys[i])];
  shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, histogram, local_histogram, kBuckets);

  uint64_t total = 0, before = 0;
  for (int b = 0; b < kBuckets; ++b) total += histogram[b];
  for (int b = 0; b < kBuckets; ++b) {
    owner[b] = total == 0 ? 0 : (int)(before * (uint64_t)pe_count / total);
    if (owner[b] == pe_count) owner[b] = pe_count - 1; /* empty buckets behind the last key */
    before += histogram[b];
  }
}

/* Sorts the local keys by owner into a new array; starts[pe] .. starts[pe + 1] are the keys for pe. */
static uint32_t *group_by_owner(keys_t keys, const int owner[kBuckets], uint64_t *starts) {
  memset(starts, 0, ((size_t)pe_count + 1) * sizeof *starts);
  for (int b = 0; b < kBuckets; ++b) starts[owner[b] + 1] += local_histogram[b];
  for (int pe = 0; pe < pe_count; ++pe) starts[pe + 1] += starts[pe];

  const size_t bytes = (size_t)pe_count * sizeof(uint64_t);
  uint64_t *cursor = allocate(malloc(bytes), "cursors");
  uint32_t *grouped = allocate(malloc((keys.count + 1) * sizeof *grouped), "grouped keys");
  memcpy(cursor, starts, bytes);
  for (size_t i = 0; i < keys.count; ++i) grouped[cursor[owner[bucket_of(keys.keys[i])]]++] = keys.keys[i];
  free(cursor);
  return grouped;
}

/* Sends every group to its owner; returns what this PE received (symmetric memory). */
static keys_t exchange(const uint32_t *grouped, const uint64_t *starts) {
  const size_t bytes = (size_t)pe_count * sizeof(uint64_t);
  uint64_t *counts = allocate(shmem_malloc(bytes), "counts");
  uint64_t *arriving = allocate(shmem_malloc(bytes), "counts");
  uint64_t *offsets = allocate(shmem_malloc(bytes), "offsets");

  for (int pe = 0; pe < pe_count; ++pe) counts[pe] = starts[pe + 1] - starts[pe];
  shmem_uint64_alltoall(SHMEM_TEAM_WORLD, arriving, counts, 1);

  keys_t mine = {NULL, 0};
  for (int pe = 0; pe < pe_count; ++pe) {
    counts[pe] = mine.count; /* where the keys of pe begin here */
    mine.count += arriving[pe];
  }
  shmem_uint64_alltoall(SHMEM_TEAM_WORLD, offsets, counts, 1);

  const uint64_t capacity = max_over_all(mine.count); /* symmetric sizes must agree */
  mine.keys = allocate(shmem_malloc((capacity + 1) * sizeof *mine.keys), "received keys");
  for (int step = 0; step < pe_count; ++step) { /* starts at this PE, so that not all PEs send to the same one */
    const int pe = (me + step) % pe_count;
    shmem_uint32_put_nbi(mine.keys + offsets[pe], grouped + starts[pe], starts[pe + 1] - starts[pe], pe);
  }
  shmem_barrier_all();

  shmem_free(offsets);
  shmem_free(arriving);
  shmem_free(counts);
  return mine;
}

/* Radix sort, a byte at a time. */
static void sort_local(keys_t keys) {
  uint32_t *from = keys.keys;
  uint32_t *other = allocate(malloc((keys.count + 1) * sizeof *other), "sort buffer");
  uint32_t *to = other;
  for (unsigned shift = 0; shift < kKeyBits; shift += 8) {
    size_t position[kRadix + 1] = {0};
    for (size_t i = 0; i < keys.count; ++i) ++position[((from[i] >> shift) & 0xff) + 1];
    for (int digit = 0; digit < kRadix; ++digit) position[digit + 1] += position[digit];
    for (size_t i = 0; i < keys.count; ++i) to[position[(from[i] >> shift) & 0xff]++] = from[i];
    uint32_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != keys.keys) memcpy(keys.keys, from, keys.count * sizeof *from);
  free(other);
}

/* True if the keys ascend on all PEs and across their borders; a PE may hold none. */
static int ascending(keys_t keys) {
  uint64_t wrong = 0;
  for (size_t i = 1; i < keys.count; ++i) wrong += keys.keys[i - 1] > keys.keys[i];

  uint64_t *range = allocate(shmem_malloc(3 * sizeof *range), "range");
  uint64_t *ranges = allocate(shmem_malloc(3 * sizeof *range * (size_t)pe_count), "ranges");
  range[0] = keys.count;
  range[1] = keys.count ? keys.keys[0] : 0;
  range[2] = keys.count ? keys.keys[keys.count - 1] : 0;
  shmem_uint64_fcollect(SHMEM_TEAM_WORLD, ranges, range, 3);

  uint64_t highest = 0;
  for (int pe = 0; pe < pe_count; ++pe) {
    if (ranges[3 * pe] == 0) continue;
    wrong += ranges[3 * pe + 1] < highest;
    highest = ranges[3 * pe + 2];
  }
  wrong = sum_over_all(wrong);
  shmem_free(ranges);
  shmem_free(range);
  return wrong == 0;
}

static int run(size_t keys_per_pe) {
  keys_t input = {allocate(malloc(keys_per_pe * sizeof(uint32_t)), "keys"), keys_per_pe};
  uint64_t *starts = allocate(malloc(((size_t)pe_count + 1) * sizeof *starts), "group starts");
  int owner[kBuckets];
  fill(input);
  const digest_t before = digest_of(input);

  const double start = now_seconds();
  assign_buckets(input, owner);
  uint32_t *grouped = group_by_owner(input, owner, starts);
  const keys_t sorted = exchange(grouped, starts);
  sort_local(sorted);
  shmem_barrier_all();
  const double seconds = now_seconds() - start;

  const digest_t after = digest_of(sorted);
  const int same = before.count == after.count && before.sum == after.sum && before.mix == after.mix;
  const int in_order = ascending(sorted);
  const uint64_t largest = max_over_all(sorted.count);
  if (me == 0)
    printf("isort: %d PEs, %" PRIu64 " keys in %.3f s, %.1f million keys/s, largest share %.3f of the mean: %s\n",
           pe_count, before.count, seconds, (double)before.count / seconds * 1e-6,
           (double)largest / (double)keys_per_pe,
           !same      ? "WRONG (keys lost or changed)"
           : in_order ? "verified"
                      : "WRONG (not sorted)");
  shmem_free(sorted.keys);
  free(grouped);
  free(starts);
  free(input.keys);
  return same && in_order ? 0 : 1;
}

int main(int argc, char **argv) {
  const size_t keys_per_pe = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000000;
  if (keys_per_pe == 0) {
    fprintf(stderr, "usage: %s [keys of a PE, 1..]\n", argv[0]);
    return 2;
  }
  shmem_init();
  me = shmem_my_pe();
  pe_count = shmem_n_pes();
  const int status = run(keys_per_pe);
  shmem_finalize();
  return status;
}
