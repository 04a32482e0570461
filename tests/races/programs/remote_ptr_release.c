/* races: none; class: remote; pes: 2 */
/* C11 atomics on mapped memory of the peer: release and acquire. */
#include <shmem.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int flag;
static int data;
int main(void) {
  shmem_init();
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    *(int*)shmem_ptr(&data, 1) = 5;
    atomic_store_explicit((atomic_int*)shmem_ptr(&flag, 1), 1, memory_order_release);
  } else {
    while (atomic_load_explicit(&flag, memory_order_acquire) == 0) usleep(10);
    wrong = data != 5;
  }
  shmem_barrier_all();
  shmem_finalize();
  return wrong;
}
