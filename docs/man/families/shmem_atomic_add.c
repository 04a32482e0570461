#include <shmem.h>

int main(void) {
  static long next_task = 0; /* on PE 0 */
  enum { tasks = 20 };
  long done = 0;
  shmem_init();
  while (shmem_long_atomic_fetch_inc(&next_task, 0) < tasks) ++done;
  static long sum = 0;
  shmem_long_atomic_add(&sum, done, 0);
  shmem_barrier_all();
  const int wrong = shmem_my_pe() == 0 && sum != tasks;
  shmem_finalize();
  return wrong;
}
