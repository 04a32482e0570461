/* Makes the race that the argument names. */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

static long word;
static long words[4];

static void store_there(long *at) { *at = 5; }

static void put_there(long *at, int pe) { shmem_long_p(at, 7, pe); }

/* PE 0 puts to PE 1, which stores. */
static void in_static_data(int me) {
  if (me == 0) put_there(&words[2], 1);
  if (me == 1) store_there(&words[2]);
}

static void in_heap(int me) {
  long *block = shmem_malloc(4 * sizeof(long));
  if (me == 0) put_there(&block[1], 1);
  if (me == 1) store_there(&block[1]);
  shmem_free(block);
}

/* The dest of a nonblocking get, before quiet. */
static void in_private_memory(int me) {
  long *block = malloc(sizeof(long));
  if (me == 0) {
    shmem_long_get_nbi(block, &word, 1, 1);
    store_there(block);
    shmem_quiet();
  }
  shmem_barrier_all();
  free(block);
}

/* The program's own status stays. */
static int with_status(int me) {
  in_static_data(me);
  return 3;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  int status = 0;
  shmem_init();
  const int me = shmem_my_pe();
  shmem_barrier_all();
  if (strcmp(what, "static") == 0) in_static_data(me);
  if (strcmp(what, "heap") == 0) in_heap(me);
  if (strcmp(what, "private") == 0) in_private_memory(me);
  if (strcmp(what, "status") == 0) status = with_status(me);
  shmem_barrier_all();
  shmem_finalize();
  return status;
}
