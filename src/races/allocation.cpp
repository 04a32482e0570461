// The C library's allocator, in front of it: what is known of memory ends when the memory is given out again.
#include <errno.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "races/access.hpp"

// The C library's own names of them.
extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* __libc_calloc(std::size_t count, std::size_t bytes);
extern "C" void* __libc_realloc(void* block, std::size_t bytes);
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t bytes);
extern "C" void __libc_free(void* block);

namespace shmemx::races {
namespace {

void* fresh(void* block, std::size_t bytes) noexcept {
  if (self != nullptr && block != nullptr) memory_map.clear(reinterpret_cast<std::uintptr_t>(block), bytes);
  return block;
}

}  // namespace
}  // namespace shmemx::races

using namespace shmemx::races;  // the names below are the C library's

#define SHMEMX_EXPORT extern "C" [[gnu::visibility("default")]]

SHMEMX_EXPORT void* malloc(std::size_t bytes) { return fresh(__libc_malloc(bytes), bytes); }
SHMEMX_EXPORT void* calloc(std::size_t count, std::size_t bytes) {
  return fresh(__libc_calloc(count, bytes), count * bytes);
}
SHMEMX_EXPORT void* realloc(void* block, std::size_t bytes) {
  if (self != nullptr && block != nullptr)
    check_freed(block, ::malloc_usable_size(block), {"realloc", __builtin_return_address(0)});
  return fresh(__libc_realloc(block, bytes), bytes);
}
SHMEMX_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) {
  return fresh(__libc_memalign(alignment, bytes), bytes);
}
SHMEMX_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return fresh(__libc_memalign(alignment, bytes), bytes);
}
SHMEMX_EXPORT int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  void* const made = fresh(__libc_memalign(alignment, bytes), bytes);
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}
SHMEMX_EXPORT void* mmap(void* at, std::size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  const long made = ::syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
  auto* const begin = reinterpret_cast<void*>(made);
  if (begin != MAP_FAILED && self != nullptr && self->in_library == 0) fresh(begin, bytes);
  return begin;
}
SHMEMX_EXPORT void* mmap64(void* at, std::size_t bytes, int protection, int flags, int fd, off64_t offset) noexcept {
  return mmap(at, bytes, protection, flags, fd, offset);
}
SHMEMX_EXPORT void free(void* block) {
  if (self != nullptr && block != nullptr)
    check_freed(block, ::malloc_usable_size(block), {"free", __builtin_return_address(0)});
  __libc_free(block);
}
