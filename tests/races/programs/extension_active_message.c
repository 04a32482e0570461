/* races: none; class: extension; pes: 2 */
/* A handler uses what was put before its message, and the sender gets what it has stored after shmemx_am_quiet. */
#include <shmem.h>
#include <shmemx.h>

static long word;
static long seen;

static void look(int source, const void* payload, size_t bytes, void* argument) {
  (void)source;
  (void)payload;
  (void)bytes;
  *(long*)argument = word;
}

int main(void) {
  shmem_init();
  shmemx_am_register(5, look, &seen);
  shmem_barrier_all();
  int wrong = 0;
  if (shmem_my_pe() == 0) {
    shmem_long_p(&word, 7, 1);
    shmem_quiet();
    shmemx_am_send(1, 5, NULL, 0);
    shmemx_am_quiet();
    wrong = shmem_long_g(&seen, 1) != 7;
  } else {
    while (shmemx_am_poll() == 0) continue;
  }
  shmem_barrier_all();
  shmem_finalize();
  return wrong;
}
