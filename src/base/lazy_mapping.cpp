#include "base/lazy_mapping.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/machine.hpp"

namespace shmemx {
namespace {

void* raw_mmap(void* address, std::size_t bytes, int protection, int flags, int fd, std::size_t offset) noexcept {
  return reinterpret_cast<void*>(::syscall(SYS_mmap, address, bytes, protection, flags, fd, offset));
}

void raw_munmap(void* address, std::size_t bytes) noexcept { ::syscall(SYS_munmap, address, bytes); }

// A mapping that grows keeps its own flags: one page that is not locked any more grows to an unlocked range.
void* map_unlocked(void* address, std::size_t bytes, int protection, int flags, int fd, std::size_t offset) noexcept {
  void* const page = raw_mmap(nullptr, page_bytes(), protection, flags & ~MAP_FIXED, fd, offset);
  if (page == MAP_FAILED) return page;
  ::syscall(SYS_munlock, page, page_bytes());
  const int moves = MREMAP_MAYMOVE | ((flags & MAP_FIXED) != 0 ? MREMAP_FIXED : 0);
  void* const grown = reinterpret_cast<void*>(::syscall(SYS_mremap, page, page_bytes(), bytes, moves, address));
  if (grown == MAP_FAILED) {
    const int cause = errno;
    raw_munmap(page, page_bytes());
    errno = cause;
  }
  return grown;
}

}  // namespace

// The kernel refuses to empty locked pages.
bool locks_future_mappings() noexcept {
  const int before = errno;
  void* const page = raw_mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool is_locked = page == MAP_FAILED
                             ? errno == EAGAIN
                             : ::syscall(SYS_madvise, page, page_bytes(), MADV_DONTNEED) != 0 && errno == EINVAL;
  if (page != MAP_FAILED) raw_munmap(page, page_bytes());
  errno = before;
  return is_locked;
}

bool may_map_locked(std::size_t bytes) noexcept {
  if (!locks_future_mappings()) return true;
  void* const probe = raw_mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) return false;
  raw_munmap(probe, bytes);
  return true;
}

void* map_on_touch(void* address, std::size_t bytes, int protection, int flags, int fd, std::size_t offset) noexcept {
  if (!locks_future_mappings()) return raw_mmap(address, bytes, protection, flags, fd, offset);
  return map_unlocked(address, bytes, protection, flags, fd, offset);
}

bool lock_on_touch(void* address, std::size_t bytes) noexcept {
  return !locks_future_mappings() || ::syscall(SYS_mlock2, address, bytes, MLOCK_ONFAULT) == 0;
}

}  // namespace shmemx
