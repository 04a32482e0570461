/* races: none; class: language; pes: 2 */
/* Steps are called through a table: put, complete, synchronise, read. */
#include <shmem.h>

static long word;
static int wrong;

static void put(void) { shmem_long_p(&word, shmem_my_pe() + 1, 1 - shmem_my_pe()); }

static void complete(void) { shmem_quiet(); }

static void meet(void) { shmem_sync_all(); }

static void look(void) { wrong |= word != 2 - shmem_my_pe(); }

int main(void) {
  shmem_init();
  void (*const steps[])(void) = {put, complete, meet, look, meet};
  for (int k = 0; k < 3; ++k)
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; ++i) steps[i]();
  shmem_finalize();
  return wrong;
}
