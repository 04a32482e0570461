/* Work stealing: counts the nodes of a tree that is not known beforehand and that is far from
 * balanced. A PE without work takes half of another PE's, with one compare-and-swap.
 *
 * Each PE works on a private stack and offers its oldest nodes in a symmetric array. One word says
 * which of them are still available: [first, end). Thief and owner change it by compare-and-swap
 * only, so an offered node is taken once. A thief reads the nodes after it has taken them, and then
 * adds their number to `copied`; the owner refills the array only when all are accounted for.
 *
 * Termination: PE 0 counts idle PEs. A PE counts as idle when it has no node left, neither private
 * nor offered, and busy again *before* it tries to take one. So once all are idle there is no work.
 *
 * Verified against a serial count of the same tree.
 *
 * Usage: worksteal [children of the root = 8000]
 */
#include <inttypes.h>
#include <sched.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kOfferMax = 64, kKeepMin = 8, kChildren = 4 };

typedef uint64_t node_t; /* its hash, which determines the hashes of its children */

typedef struct {
  node_t *nodes;
  size_t count, capacity;
} node_stack_t;

typedef struct {
  uint64_t nodes, mix, steals;
} tally_t;

/* Symmetric: the nodes that this PE offers. */
static node_t offered[kOfferMax];
static uint64_t available; /* first << 32 | end */
static uint64_t copied;    /* nodes of the current offer that have left the array */
static int idle_count;     /* only PE 0's is used */
static uint64_t tally_in[3], tally_out[3];

static uint64_t offer_size; /* this PE's own: nodes in the current offer */
static int me, pe_count;

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t pack(uint64_t first, uint64_t end) { return first << 32 | end; }
static uint64_t first_of(uint64_t range) { return range >> 32; }
static uint64_t end_of(uint64_t range) { return range & 0xffffffff; }

static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static void push(node_stack_t *stack, node_t node) {
  if (stack->count == stack->capacity) {
    stack->capacity = stack->capacity ? 2 * stack->capacity : 1024;
    stack->nodes = realloc(stack->nodes, stack->capacity * sizeof *stack->nodes);
    if (stack->nodes == NULL) {
      fprintf(stderr, "worksteal: PE %d: no memory for %zu nodes\n", me, stack->capacity);
      shmem_global_exit(1);
    }
  }
  stack->nodes[stack->count++] = node;
}

static void push_root(node_stack_t *stack, unsigned root_children) {
  for (unsigned i = 0; i < root_children; ++i) push(stack, mix(UINT64_C(0x9e3779b97f4a7c15) * (i + 1)));
}

/* A node has four children with a probability of just below one fourth, else none: most subtrees
 * are tiny, a few are huge, and nothing tells them apart in advance. */
static void visit(node_stack_t *stack, node_t node, tally_t *tally) {
  ++tally->nodes;
  tally->mix ^= node;
  if ((node & 0xffff) >= 16350) return;
  for (uint64_t child = 0; child < kChildren; ++child)
    push(stack, mix(node + UINT64_C(0x9e3779b97f4a7c15) * (child + 1)));
}

static tally_t count_serially(unsigned root_children) {
  node_stack_t stack = {NULL, 0, 0};
  tally_t tally = {0, 0, 0};
  push_root(&stack, root_children);
  while (stack.count != 0) visit(&stack, stack.nodes[--stack.count], &tally);
  free(stack.nodes);
  return tally;
}

/* Offers the oldest half of the stack if the last offer is gone. */
static void offer_surplus(node_stack_t *stack) {
  if (stack->count < 2 * kKeepMin) return;
  const uint64_t range = shmem_uint64_atomic_fetch(&available, me);
  if (first_of(range) != end_of(range)) return;
  if (shmem_uint64_atomic_fetch(&copied, me) != offer_size) return;

  offer_size = stack->count / 2 < kOfferMax ? stack->count / 2 : kOfferMax;
  shmem_uint64_put(offered, stack->nodes, offer_size, me);
  stack->count -= offer_size;
  memmove(stack->nodes, stack->nodes + offer_size, stack->count * sizeof *stack->nodes);
  shmem_uint64_atomic_set(&copied, 0, me);
  shmem_quiet(); /* all PEs see the nodes and the zero before the offer */
  shmem_uint64_atomic_set(&available, pack(0, offer_size), me);
}

/* Takes half of the nodes that `victim` offers, all if it is this PE; returns the number taken. */
static size_t take(node_stack_t *stack, uint64_t range, int victim) {
  const uint64_t size = end_of(range) - first_of(range);
  const uint64_t wanted = victim == me ? size : (size + 1) / 2;
  const uint64_t rest = pack(first_of(range) + wanted, end_of(range));
  if (shmem_uint64_atomic_compare_swap(&available, range, rest, victim) != range) return 0;

  node_t loot[kOfferMax];
  shmem_uint64_get(loot, &offered[first_of(range)], wanted, victim);
  shmem_uint64_atomic_add(&copied, wanted, victim);
  for (uint64_t i = 0; i < wanted; ++i) push(stack, loot[i]);
  return wanted;
}

static int take_back_own(node_stack_t *stack) {
  for (;;) {
    const uint64_t range = shmem_uint64_atomic_fetch(&available, me);
    if (first_of(range) == end_of(range)) return 0;
    if (take(stack, range, me) != 0) return 1;
  }
}

/* Called without work. Returns 1 with nodes on the stack, 0 when no PE has any left. */
static int steal(node_stack_t *stack, tally_t *tally) {
  shmem_int_atomic_fetch_inc(&idle_count, 0);
  for (int victim = (me + 1) % pe_count;; victim = (victim + 1) % pe_count) {
    if (shmem_int_atomic_fetch(&idle_count, 0) == pe_count) return 0;
    const uint64_t range = victim == me ? 0 : shmem_uint64_atomic_fetch(&available, victim);
    if (first_of(range) == end_of(range)) {
      if (victim == me) sched_yield(); /* once a round: a PE with work may want this core */
      continue;
    }
    shmem_int_atomic_fetch_add(&idle_count, -1, 0);
    if (take(stack, range, victim) != 0) {
      ++tally->steals;
      return 1;
    }
    shmem_int_atomic_fetch_inc(&idle_count, 0);
  }
}

static tally_t count_together(unsigned root_children) {
  node_stack_t stack = {NULL, 0, 0};
  tally_t tally = {0, 0, 0};
  if (me == 0) push_root(&stack, root_children);
  do {
    while (stack.count != 0) {
      visit(&stack, stack.nodes[--stack.count], &tally);
      offer_surplus(&stack);
    }
  } while (take_back_own(&stack) || steal(&stack, &tally));
  free(stack.nodes);
  return tally;
}

static int report(tally_t mine, unsigned root_children, double seconds) {
  printf("worksteal: PE %d visited %" PRIu64 " nodes, stole %" PRIu64 " times\n", me, mine.nodes, mine.steals);
  fflush(stdout);
  tally_in[0] = mine.nodes;
  tally_in[1] = mine.steals;
  tally_in[2] = mine.mix;
  shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, tally_out, tally_in, 2);
  shmem_uint64_xor_reduce(SHMEM_TEAM_WORLD, &tally_out[2], &tally_in[2], 1);

  const tally_t serial = count_serially(root_children);
  const int ok = serial.nodes == tally_out[0] && serial.mix == tally_out[2];
  if (me == 0)
    printf("worksteal: %d PEs, %" PRIu64 " nodes in %.3f s, %" PRIu64 " steals, serial count %" PRIu64 ": %s\n",
           pe_count, tally_out[0], seconds, tally_out[1], serial.nodes, ok ? "verified" : "WRONG");
  return ok ? 0 : 1;
}

int main(int argc, char **argv) {
  const unsigned root_children = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 8000;
  shmem_init();
  me = shmem_my_pe();
  pe_count = shmem_n_pes();

  shmem_barrier_all();
  const double start = now_seconds();
  const tally_t tally = count_together(root_children);
  shmem_barrier_all();
  const int status = report(tally, root_children, now_seconds() - start);

  shmem_finalize();
  return status;
}
