/* races: always; class: wait; pes: 2 */
/* The last word of a put says nothing of the words before it. */
#include <shmem.h>

static int box[2];

int main(void) {
  shmem_init();
  volatile int seen = 0;
  if (shmem_my_pe() == 0) {
    const int message[2] = {1, 2};
    shmem_int_put(box, message, 2, 1);  // race 1
  } else {
    shmem_int_wait_until(&box[1], SHMEM_CMP_EQ, 2);
    seen = box[0];  // race 2
  }
  (void)seen;
  shmem_finalize();
  return 0;
}
