/* The smallest program: starts, says how much memory a PE has that allocated nothing, ends.
   How long does a start take, and how much memory does a PE cost? */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if !defined(BENCH_RAW)
#include <shmem.h>
#endif

/* Resident memory of this process in KiB, -1 where /proc does not say. */
static long resident_kib(void) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[256];
  long kib = -1;
  if (status == NULL) return -1;
  while (fgets(line, sizeof line, status) != NULL)
    if (sscanf(line, "VmRSS: %ld", &kib) == 1) break;
  fclose(status);
  return kib;
}

int main(void) {
  char line[64];
  int length;
#if !defined(BENCH_RAW)
  shmem_init();
  shmem_barrier_all();
#endif
  length = snprintf(line, sizeof line, "rss_kib %ld\n", resident_kib());
  if (write(STDOUT_FILENO, line, (size_t)length) != length) return 1;
#if !defined(BENCH_RAW)
  shmem_finalize();
#endif
  return 0;
}
