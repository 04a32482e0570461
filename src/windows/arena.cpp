#include "windows/arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdio>

namespace shmemx::windows {
namespace {

Result<void*> map_shared(int fd, std::size_t offset, std::size_t bytes) {
  // MAP_NORESERVE: the range is reserved generously and backed on first touch.
  void* const address =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, static_cast<off_t>(offset));
  if (address == MAP_FAILED) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "cannot map %zu bytes of address space for the node's PEs (limits: ulimit -v, "
                  "/proc/sys/vm/overcommit_memory); set SHMEM_SYMMETRIC_SIZE to a smaller value",
                  bytes);
    return Error{Errc::no_memory, errno, text};
  }
  return address;
}

}  // namespace

Arena::Arena(Arena&& other) noexcept
    : fd_(std::move(other.fd_)),
      header_(std::exchange(other.header_, nullptr)),
      header_mapped_bytes_(other.header_mapped_bytes_),
      blocks_(std::exchange(other.blocks_, nullptr)),
      geometry_(other.geometry_) {}

Arena::~Arena() {
  if (blocks_ != nullptr) ::munmap(blocks_, geometry_.n_pes * geometry_.stride);
  if (header_ != nullptr) ::munmap(header_, header_mapped_bytes_);
}

Result<Arena> Arena::open(UniqueFd fd) {
  struct stat status;
  if (::fstat(fd.get(), &status) != 0) return system_error("look at the arena file");
  SHMEMX_TRY_ASSIGN(first, map_shared(fd.get(), 0, kPageBytes));
  const std::size_t n_pes = static_cast<bootstrap::JobHeader*>(first)->n_pes;
  ::munmap(first, kPageBytes);
  const std::size_t wanted = bootstrap::header_bytes(n_pes);
  if (n_pes == 0 || static_cast<std::size_t>(status.st_size) < wanted) {
    return Error{Errc::protocol, 0, "the arena file is shorter than its header says"};
  }
  Arena arena;
  SHMEMX_TRY_ASSIGN(header, map_shared(fd.get(), 0, wanted));
  arena.header_ = static_cast<bootstrap::JobHeader*>(header);
  arena.header_mapped_bytes_ = wanted;
  arena.fd_ = std::move(fd);
  return arena;
}

Status Arena::map_blocks(const Geometry& geometry) {
  geometry_ = geometry;
  SHMEMX_TRY(bootstrap::size_job_file(fd_.get(), geometry.file_bytes));
  // Aligned: reserve more, cut the ends off.
  const std::size_t bytes = geometry.n_pes * geometry.stride;
  void* const reserved =
      ::mmap(nullptr, bytes + geometry.alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return map_shared(fd_.get(), geometry.blocks_offset, bytes + geometry.alignment).error();
  const auto begin = reinterpret_cast<std::uintptr_t>(reserved);
  const std::uintptr_t aligned = round_up(begin, geometry.alignment);
  void* const address =
      ::mmap(reinterpret_cast<void*>(aligned), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED,
             fd_.get(), static_cast<off_t>(geometry.blocks_offset));
  if (address == MAP_FAILED) return system_error("map the node's blocks");
  if (aligned > begin) ::munmap(reserved, aligned - begin);
  ::munmap(reinterpret_cast<void*>(aligned + bytes), begin + geometry.alignment - aligned);
  blocks_ = static_cast<std::byte*>(address);
  return {};
}

std::size_t Arena::resident_bytes() const noexcept {
  struct stat status;
  return ::fstat(fd_.get(), &status) == 0 ? static_cast<std::size_t>(status.st_blocks) * 512 : 0;
}

void Arena::discard_heap(int pe, std::size_t offset, std::size_t bytes) const noexcept {
  ::madvise(heap(pe) + offset, bytes, MADV_REMOVE);
}

}  // namespace shmemx::windows
