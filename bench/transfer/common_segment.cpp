#include "common_segment.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace shmemx::bench {

std::byte* map_shared(int fd, std::size_t offset, std::size_t bytes) {
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) throw system_refusal("mmap");
  return static_cast<std::byte*>(memory);
}

int make_memory_file(std::size_t bytes) {
  const int fd = memfd_create("bench_transfer", MFD_CLOEXEC);
  if (fd < 0) throw system_refusal("memfd_create");
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    const Unavailable refusal = system_refusal("ftruncate");
    close(fd);
    throw refusal;
  }
  return fd;
}

void CommonSegment::map(Link& link, std::size_t bytes) {
  int fd = -1;
  if (link.local()) {
    fd = make_memory_file(bytes);
    link.send_fd(fd);
  } else {
    fd = link.receive_fd();
  }
  bytes_ = bytes;
  try {
    base_ = map_shared(fd, 0, bytes);
  } catch (...) {
    close(fd);
    throw;
  }
  close(fd);
}

void CommonSegment::unmap() {
  if (base_ != nullptr) munmap(base_, bytes_);
  base_ = nullptr;
}

}  // namespace shmemx::bench
