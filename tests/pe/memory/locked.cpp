// A program that locks its memory (mlockall) before or after shmem_init: the reserved heap is not backed, and what is
// touched works. Exit status 0 is success, 77 if this user may not lock memory.
#include <shmem.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstring>

#include "../../support/expect.hpp"

namespace {

using test_support::failures;

constexpr long kMostKib = 100 * 1024;  // of the many GiB that the machine's memory makes

long global;

// Returns a line's number in kB of /proc/self/status.
long status_kib(const char* name) {
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  char line[256];
  long kib = -1;
  while (std::fgets(line, sizeof line, file) != nullptr)
    if (std::strncmp(line, name, std::strlen(name)) == 0) std::sscanf(line + std::strlen(name), "%ld", &kib);
  std::fclose(file);
  return kib;
}

void use_library() {
  const int n_pes = shmem_n_pes();
  const int right = (shmem_my_pe() + 1) % n_pes;
  const int left = (shmem_my_pe() + n_pes - 1) % n_pes;
  auto* const heap = static_cast<long*>(shmem_calloc(1 << 17, sizeof(long)));
  for (int pe = 0; pe < n_pes; ++pe) shmem_long_atomic_inc(&global, pe);
  shmem_long_p(&heap[1000], 50 + shmem_my_pe(), right);
  shmem_barrier_all();
  EXPECT(heap[1000] == 50 + left);
  EXPECT(global == n_pes);
  EXPECT(status_kib("RssShmem:") < kMostKib);
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_before = argc > 1 && std::strcmp(argv[1], "before") == 0;
  if (!is_before) shmem_init();
  const int flags = argc > 2 ? MCL_CURRENT | MCL_FUTURE : is_before ? MCL_FUTURE : MCL_CURRENT;
  if (mlockall(flags) != 0) {
    if (!is_before) shmem_finalize();
    return 77;
  }
  if (is_before) shmem_init();
  use_library();
  EXPECT(status_kib("VmLck:") > 0);
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
