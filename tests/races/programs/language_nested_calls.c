/* races: none; class: language; pes: 2 */
/* The put, its quiet and the synchronisation are spread over nested calls. */
#include <shmem.h>

static long word;

static void complete(void) { shmem_quiet(); }

static void send(long value, int pe) {
  shmem_long_p(&word, value, pe);
  complete();
}

static void exchange(int me) {
  send(10 + me, 1 - me);
  shmem_sync_all();
}

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  exchange(me);
  const int wrong = word != 11 - me;
  shmem_finalize();
  return wrong;
}
