/* races: none; class: wait; pes: 2 */
/* Data, a fence, and a structure of two ints, the second of which is waited for. */
#include <shmem.h>
static struct { int length, flag; } head;
static int data[4];
int main(void) {
  shmem_init();
  int bad = 0;
  if (shmem_my_pe() == 0) {
    int v[4] = {1, 2, 3, 4};
    shmem_int_put(data, v, 4, 1);
    shmem_fence();
    __typeof__(head) h = {4, 1};
    shmem_putmem(&head, &h, sizeof h, 1);
  } else {
    shmem_int_wait_until(&head.flag, SHMEM_CMP_EQ, 1);
    bad = data[3] != 4;
  }
  shmem_barrier_all();
  shmem_finalize();
  return bad;
}
