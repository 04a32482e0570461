/* races: always; class: language; pes: 2 */
/* The same table in a wrong order: the sync comes before the quiet. */
#include <shmem.h>

static long word;
static long seen;

static void put(void) { shmem_long_p(&word, shmem_my_pe() + 1, 1 - shmem_my_pe()); }  // race 1

static void complete(void) { shmem_quiet(); }

static void meet(void) { shmem_sync_all(); }

static void look(void) { seen += word; }  // race 2

int main(void) {
  shmem_init();
  void (*const steps[])(void) = {put, meet, complete, look};
  for (unsigned i = 0; i < sizeof steps / sizeof *steps; ++i) steps[i]();
  shmem_finalize();
  return seen > 2;
}
