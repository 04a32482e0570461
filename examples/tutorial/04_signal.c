/* Step 4: data and a signal in one operation. A message goes once round the ring of all PEs, and each PE adds its
 * number to it.
 *
 * Usage: oshrun -n 4 ./04_signal
 */
#include <shmem.h>
#include <stdio.h>

enum { kCount = 100 };

static long message[kCount];
static uint64_t arrived; /* a signal is a 64-bit word */

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pe_count = shmem_n_pes();
  const int right = (me + 1) % pe_count;

  static long first[kCount]; /* 0, 1, 2, ... */
  for (int i = 0; i < kCount; ++i) first[i] = i;

  if (me == 0) shmem_long_put_signal(message, first, kCount, &arrived, 1, SHMEM_SIGNAL_SET, right);

  shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1); /* then the whole message is here */

  if (me != 0) {
    for (int i = 0; i < kCount; ++i) message[i] += me;
    shmem_long_put_signal(message, message, kCount, &arrived, 1, SHMEM_SIGNAL_SET, right);
  }
  printf("PE %d has the message, it begins with %ld\n", me, message[0]);

  /* PEs 1 to me have added their numbers. */
  const long added = (long)(me == 0 ? pe_count - 1 : me) * (me == 0 ? pe_count : me + 1) / 2;
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) {
    if (message[i] != i + added) wrong = 1;
  }
  shmem_finalize();
  return wrong;
}
