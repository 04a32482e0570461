/* races: always; class: atomic; pes: 3 */
/* PEs take tasks by fetch_inc, but put all results to one place. */
#include <shmem.h>

static int next_task;
static int result;

int main(void) {
  shmem_init();
  const int task = shmem_int_atomic_fetch_inc(&next_task, 0);
  shmem_int_p(&result, task * task, 0);  // race 1 and 2
  shmem_barrier_all();
  const int wrong = result > 4;
  shmem_finalize();
  return wrong;
}
