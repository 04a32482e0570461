/* races: none; class: atomic; pes: 3 */
/* PEs take tasks by fetch_inc and put each result to the place of its task. */
#include <shmem.h>

static int next_task;
static int results[12];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  for (;;) {
    const int task = shmem_int_atomic_fetch_inc(&next_task, 0);
    if (task >= 12) break;
    shmem_int_p(&results[task], task * task, 0);
  }
  shmem_barrier_all();
  const int wrong = me == 0 && (results[3] != 9 || results[11] != 121);
  shmem_finalize();
  return wrong;
}
