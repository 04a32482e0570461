/* races: none; class: wait; pes: 2 */
/* Each PE waits for the last word of a put and resets it, which its answer says. Nothing else is read, and a fence
   stands between the puts. */
#include <shmem.h>

enum { kWords = 64 };
static long box[kWords];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  long message[kWords];
  for (int i = 0; i < kWords; ++i) message[i] = i + 1;
  for (int i = 0; i < 20; ++i) {
    if (me == 0) shmem_long_put(box, message, kWords, 1);
    shmem_long_wait_until(&box[kWords - 1], SHMEM_CMP_NE, 0);
    box[kWords - 1] = 0;
    if (me == 1) shmem_long_put(box, message, kWords, 0);
    shmem_fence();
  }
  shmem_barrier_all();
  const int wrong = box[0] != 1;
  shmem_finalize();
  return wrong;
}
