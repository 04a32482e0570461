/* Step 5: atomics. PEs take numbered items of work from a counter on PE 0 until there are none left, and elect the PE
 * that was first.
 *
 * Usage: oshrun -n 4 ./05_atomics
 */
#include <shmem.h>
#include <stdio.h>

enum { kItems = 1000, kNobody = -1 };

static int next_item;          /* of PE 0: the next item that nobody has taken */
static int times_done[kItems]; /* of PE 0: how often each item was done */
static int winner = kNobody;   /* of PE 0: the PE that was first */
static int win_count;          /* of PE 0: how many PEs believe that they were first */

static void take_items(void) {
  for (;;) {
    const int item = shmem_int_atomic_fetch_inc(&next_item, 0); /* no two PEs get the same number */
    if (item >= kItems) break;
    shmem_int_atomic_inc(&times_done[item], 0); /* the work on the item would be here */
  }
}

static void elect(int me) {
  /* Stores `me` only if `winner` is still kNobody; returns what was there before. */
  const int before = shmem_int_atomic_compare_swap(&winner, kNobody, me, 0);
  if (before == kNobody) shmem_int_atomic_inc(&win_count, 0);
}

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();

  take_items();
  elect(me);
  shmem_barrier_all();

  int wrong = 0;
  if (me == 0) {
    for (int i = 0; i < kItems; ++i) {
      if (times_done[i] != 1) wrong = 1;
    }
    if (win_count != 1 || winner < 0 || winner >= shmem_n_pes()) wrong = 1;
    printf("%d items, each %s; %d winner\n", kItems, wrong ? "WRONG" : "done once", win_count);
  }
  shmem_finalize();
  return wrong;
}
