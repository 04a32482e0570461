#include "base/contact_table.hpp"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "base/cache_line.hpp"

namespace shmemx {

// Without huge pages: one contact must not take two megabytes. Ends as `new` does where there is no memory: networks in
// plug-ins have no diagnostics.
std::byte* reserve_zeros(std::size_t bytes) noexcept {
  const std::size_t mapped = round_up(bytes + 1, kPageBytes);
  void* const memory =
      ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::fprintf(stderr, "shmemx: no address space for %zu bytes of a table of PEs: %s\n", mapped, ::strerror(errno));
    std::abort();
  }
  ::madvise(memory, mapped, MADV_NOHUGEPAGE);
  return static_cast<std::byte*>(memory);
}

void release_zeros(std::byte* memory, std::size_t bytes) noexcept { ::munmap(memory, round_up(bytes + 1, kPageBytes)); }

}  // namespace shmemx
