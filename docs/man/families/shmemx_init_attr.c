#include <shmemx.h>
#include <string.h>

/* A program of one process; an MPI program would call MPI_Allgather and MPI_Barrier. */
static int gather(const void* mine, void* all, size_t bytes, void* user) {
  (void)user;
  memcpy(all, mine, bytes);
  return 0;
}

static int nobody_else(void* user) {
  (void)user;
  return 0;
}

int main(void) {
  shmemx_init_attr_t attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.bytes = sizeof attributes;
  attributes.n_pes = 1;
  attributes.thread_level = SHMEM_THREAD_SINGLE;
  attributes.allgather = gather;
  attributes.barrier = nobody_else;
  if (shmemx_init_attr(&attributes, NULL) != SHMEMX_SUCCESS) return 1;
  const int wrong = shmemx_n_pes() != 1 || shmemx_node_n_pes() != 1;
  shmemx_finalize();
  return wrong;
}
