#include <shmemx.h>

static long total = 0;

static void add(int source, const void* payload, size_t bytes, void* argument) {
  (void)source;
  (void)argument;
  if (bytes == sizeof(long)) total += *(const long*)payload;
}

int main(void) {
  shmem_init();
  const int n = shmem_n_pes();
  shmemx_am_register(0, add, NULL);
  shmem_barrier_all(); /* all have a handler */
  const long value = shmem_my_pe();
  for (int pe = 0; pe < n; ++pe) shmemx_am_send(pe, 0, &value, sizeof value);
  shmemx_am_quiet();
  shmem_barrier_all();
  const int wrong = total != (long)n * (n - 1) / 2;
  shmem_finalize();
  return wrong;
}
