// Which file a descriptor names: to notice that the program has closed the descriptor, or uses its number for another
// file.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

namespace shmemx {

class FileIdentity {
 public:
  // Of no file.
  FileIdentity() noexcept = default;
  explicit FileIdentity(const struct stat& status) noexcept : device_(status.st_dev), inode_(status.st_ino) {}
  // Of no file if the descriptor is not open.
  explicit FileIdentity(int fd) noexcept {
    struct stat status;
    if (::fstat(fd, &status) == 0) *this = FileIdentity(status);
  }

  // Returns true if the descriptor is open and names this file.
  bool is_of(int fd) const noexcept {
    struct stat status;
    return ::fstat(fd, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
  }

 private:
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace shmemx
