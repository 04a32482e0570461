#include "base/contact_table.hpp"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/cache_line.hpp"

namespace shmemx {
namespace {

// A table of a page takes no more memory on the heap, where those of a small job lie close to each other: each page of
// its own costs a look-up in the TLB on the way of a message.
constexpr bool is_small(std::size_t bytes) { return bytes <= kPageBytes; }

// As `new` does where there is no memory: networks in plug-ins have no diagnostics.
[[noreturn]] void end_without_memory(std::size_t bytes) noexcept {
  std::fprintf(stderr, "shmemx: no memory for %zu bytes of a table of PEs: %s\n", bytes, ::strerror(errno));
  std::abort();
}

std::byte* allocate_zeros(std::size_t bytes) noexcept {
  const std::size_t whole = round_up(bytes + 1, kCacheLine);
  void* const memory = std::aligned_alloc(kCacheLine, whole);
  if (memory == nullptr) end_without_memory(whole);
  return static_cast<std::byte*>(std::memset(memory, 0, whole));
}

}  // namespace

// Without huge pages: one contact must not take two megabytes.
std::byte* reserve_zeros(std::size_t bytes) noexcept {
  if (is_small(bytes)) return allocate_zeros(bytes);
  const std::size_t mapped = round_up(bytes, kPageBytes);
  void* const memory =
      ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) end_without_memory(mapped);
  ::madvise(memory, mapped, MADV_NOHUGEPAGE);
  return static_cast<std::byte*>(memory);
}

void release_zeros(std::byte* memory, std::size_t bytes) noexcept {
  if (is_small(bytes)) return std::free(memory);
  ::munmap(memory, round_up(bytes, kPageBytes));
}

}  // namespace shmemx
