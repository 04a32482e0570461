/* Step 3: when is a put complete, and in which order do puts arrive? Non-blocking puts with quiet, and a flag behind
 * data with fence.
 *
 * Usage: oshrun -n 4 ./03_order
 */
#include <shmem.h>
#include <stdio.h>

enum { kCount = 1000 };

/* Globals and statics are symmetric, as memory of shmem_malloc is: every PE has them, and every PE can write them. */
static long data[kCount];
static long flag;

/* Writes my number into entry `me` of every PE's table. */
static int fill_tables(long *table, int me, int pe_count) {
  const long value = 100 + me;
  for (int pe = 0; pe < pe_count; ++pe) shmem_long_put_nbi(&table[me], &value, 1, pe);
  /* The puts are under way. Do other work here, but leave `value` as it is. */
  shmem_quiet();    /* my puts are complete: the values are in the tables */
  shmem_sync_all(); /* so are the puts of all other PEs */

  int wrong = 0;
  for (int pe = 0; pe < pe_count; ++pe) {
    if (table[pe] != 100 + pe) wrong = 1;
  }
  return wrong;
}

/* Sends data and then a flag to the right neighbour; waits for those of the left one. */
static int send_with_flag(int me, int pe_count) {
  const int right = (me + 1) % pe_count;
  const int left = (me + pe_count - 1) % pe_count;
  long numbers[kCount];
  for (int i = 0; i < kCount; ++i) numbers[i] = me + i;

  shmem_long_put(data, numbers, kCount, right);
  shmem_fence(); /* what follows arrives at `right` after the data */
  shmem_long_p(&flag, 1, right);

  shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);

  int wrong = 0;
  for (int i = 0; i < kCount; ++i) {
    if (data[i] != left + i) wrong = 1;
  }
  return wrong;
}

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pe_count = shmem_n_pes();

  long *table = shmem_calloc((size_t)pe_count, sizeof(long));
  if (table == NULL) shmem_global_exit(1);
  const int wrong = fill_tables(table, me, pe_count) + send_with_flag(me, pe_count);
  printf("PE %d: table and data are %s\n", me, wrong ? "WRONG" : "complete");

  shmem_free(table);
  shmem_finalize();
  return wrong;
}
