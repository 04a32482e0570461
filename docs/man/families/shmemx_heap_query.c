#include <shmemx.h>
#include <stdio.h>

int main(void) {
  shmem_init();
  shmemx_heap_info_t before, after;
  shmemx_heap_query(&before);
  void* block = shmem_malloc(1000);
  shmemx_heap_query(&after);
  printf("%zu of %zu bytes in use\n", after.used_bytes, after.capacity_bytes);
  char route[100];
  shmemx_route((shmem_my_pe() + 1) % shmem_n_pes(), route, sizeof route);
  printf("to my right neighbour: %s\n", route);
  const int wrong = after.live_blocks != before.live_blocks + 1;
  shmem_free(block);
  shmem_finalize();
  return wrong;
}
