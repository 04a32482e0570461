#include "bootstrap/liveness.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/cache_line.hpp"
#include "base/unique_fd.hpp"
#include "bootstrap/placement.hpp"

namespace shmemx::bootstrap {
namespace {

// Locked bytes lie beyond the end of any file.
constexpr off_t kFirstLockedByte = off_t{1} << 62;

struct flock lock_of(std::size_t place) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kFirstLockedByte + static_cast<off_t>(place);
  lock.l_len = 1;
  return lock;
}

// PEs may have inherited one file description, which would hold one lock for all of them.
UniqueFd open_again(int fd) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return UniqueFd(::open(path, O_RDWR | O_CLOEXEC));
}

bool take_lock(int arena_fd, std::size_t place) {
  const UniqueFd own = open_again(arena_fd);
  struct flock lock = lock_of(place);
  if (!own.valid() || ::fcntl(own.get(), F_OFD_SETLK, &lock) != 0) return false;
  void* const page = ::mmap(nullptr, kPageBytes, PROT_READ, MAP_SHARED, own.get(), 0);
  if (page == MAP_FAILED) return false;
  if (::madvise(page, kPageBytes, MADV_DONTFORK) == 0) return true;
  ::munmap(page, kPageBytes);
  return false;
}

bool pid_is_gone(const PeRecord& record) {
  if (record.pid_namespace == 0 || record.pid_namespace != namespace_inode("pid")) return false;
  return ::kill(record.pid, 0) != 0 && errno == ESRCH;
}

}  // namespace

void announce_liveness(int arena_fd, std::size_t place, PeRecord& record) noexcept {
  record.pid = static_cast<std::int32_t>(::getpid());
  record.pid_namespace = namespace_inode("pid");
  record.has_liveness_lock = take_lock(arena_fd, place) ? 1 : 0;
}

Liveness::Liveness(int arena_fd) noexcept : fd_(arena_fd), file_(arena_fd) {}

bool Liveness::has_ended(std::size_t place, const PeRecord& record) const noexcept {
  if (record.has_liveness_lock == 0) return pid_is_gone(record);
  struct flock lock = lock_of(place);
  return file_.is_of(fd_) && ::fcntl(fd_, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

}  // namespace shmemx::bootstrap
