#include "windows/arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/lazy_mapping.hpp"
#include "base/machine.hpp"
#include "windows/locked_memory.hpp"

namespace shmemx::windows {
namespace {

// EAGAIN: the program has locked all future mappings, and may lock no more.
Error no_room(std::size_t bytes) {
  const int cause = errno;
  char text[256];
  if (cause == EAGAIN)
    std::snprintf(
        text, sizeof text,
        "cannot map the memory of the node's PEs: the program locks all mappings (mlockall), and the limit on "
        "locked memory (ulimit -l, RLIMIT_MEMLOCK) is %llu bytes; raise it, or call mlockall later",
        static_cast<unsigned long long>(locked_memory_limit()));
  else
    std::snprintf(text, sizeof text,
                  "cannot map %zu bytes of address space for the node's PEs (limits: ulimit -v, "
                  "/proc/sys/vm/overcommit_memory); set SHMEM_SYMMETRIC_SIZE to a smaller value",
                  bytes);
  return Error{Errc::no_memory, cause, text};
}

Result<void*> map_shared(int fd, std::size_t offset, std::size_t bytes) {
  // MAP_NORESERVE: the range is reserved generously and backed on first touch.
  void* const address = map_on_touch(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, offset);
  if (address == MAP_FAILED) return no_room(bytes);
  return address;
}

// Address space without memory, aligned: at an address if that is free, else reserves more and cuts the ends off.
Result<void*> reserve(std::size_t bytes, std::size_t alignment, std::uintptr_t at) {
  if (at != 0) {
    void* const asked = reinterpret_cast<void*>(at);
    void* const got =
        ::mmap(asked, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == asked) return got;
    if (got != MAP_FAILED) ::munmap(got, bytes);  // kernels before 4.17 take the address for a wish
  }
  void* const reserved =
      map_on_touch(nullptr, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  if (reserved == MAP_FAILED) return no_room(bytes + alignment);
  const auto begin = reinterpret_cast<std::uintptr_t>(reserved);
  const std::uintptr_t aligned = round_up(begin, alignment);
  if (aligned > begin) ::munmap(reserved, aligned - begin);
  ::munmap(reinterpret_cast<void*>(aligned + bytes), begin + alignment - aligned);
  return reinterpret_cast<void*>(aligned);
}

Status map_over(void* reserved, std::size_t bytes, int fd, std::size_t offset) {
  void* const address =
      map_on_touch(reserved, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, offset);
  if (address == MAP_FAILED) return errno == EAGAIN ? no_room(bytes) : system_error("map the node's blocks");
  set_arena_address(address);
  leave_out_of_dumps(address, bytes);
  return {};
}

}  // namespace

Arena::Arena(Arena&& other) noexcept
    : fd_(std::move(other.fd_)),
      file_(other.file_),
      header_(std::exchange(other.header_, nullptr)),
      header_mapped_bytes_(other.header_mapped_bytes_),
      pes_(std::move(other.pes_)),
      channel_(std::exchange(other.channel_, nullptr)),
      block0_(other.block0_),
      mapped_(std::exchange(other.mapped_, nullptr)),
      mapped_bytes_(other.mapped_bytes_),
      node_offset_(other.node_offset_),
      geometry_(other.geometry_) {}

Arena::~Arena() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
  if (channel_ != nullptr) ::munmap(channel_, geometry_.channel_bytes);
  if (header_ != nullptr) ::munmap(header_, header_mapped_bytes_);
}

Result<Arena> Arena::open(UniqueFd fd) {
  constexpr std::size_t kTables = std::size_t{128} << 10;  // of this library in private memory, at least
  if (!may_map_locked(kTables)) return no_room(kTables);
  struct stat status;
  if (::fstat(fd.get(), &status) != 0) return system_error("look at the arena file");
  SHMEMX_TRY_ASSIGN(first, map_shared(fd.get(), 0, kPageBytes));
  const auto* const page = static_cast<bootstrap::JobHeader*>(first);
  const std::size_t n_places = page->n_places;
  const std::size_t wanted = bootstrap::layout_of(page).bytes();
  ::munmap(first, kPageBytes);
  if (n_places == 0 || static_cast<std::size_t>(status.st_size) < wanted) {
    return Error{Errc::protocol, 0, "the arena file is shorter than its header says"};
  }
  Arena arena;
  SHMEMX_TRY_ASSIGN(header, map_shared(fd.get(), 0, wanted));
  arena.header_ = static_cast<bootstrap::JobHeader*>(header);
  arena.header_mapped_bytes_ = wanted;
  arena.fd_ = std::move(fd);
  arena.file_ = FileIdentity(status);
  const std::size_t grows_at = round_up(bootstrap::layout_of(arena.header_).locations(), kPageBytes);
  leave_out_of_dumps(static_cast<std::byte*>(header) + grows_at, wanted - grows_at);
  return arena;
}

int Arena::fd() const noexcept { return file_.is_of(fd_.get()) ? fd_.get() : -1; }

std::size_t Arena::place_of(int pe) const noexcept {
  if (pes_.empty()) return static_cast<std::size_t>(pe);
  return static_cast<std::size_t>(std::lower_bound(pes_.begin(), pes_.end(), pe) - pes_.begin());
}

bool Arena::has(int pe) const noexcept {
  return pes_.empty() ? pe >= 0 && static_cast<std::uint32_t>(pe) < header_->n_places
                      : std::binary_search(pes_.begin(), pes_.end(), pe);
}

std::vector<bootstrap::RecordOfPe> Arena::records() const {
  std::vector<bootstrap::RecordOfPe> all;
  for (std::size_t place = 0; place < header_->n_node_pes; ++place)
    all.push_back({pe_at(place), bootstrap::record_of(header_, place)});
  for (std::size_t i = 0; i < header_->n_foreign; ++i)
    all.push_back({header_->foreign_pes[i], bootstrap::foreign_record_of(header_, i)});
  std::sort(all.begin(), all.end(), [](const auto& left, const auto& right) { return left.pe < right.pe; });
  return all;
}

Status Arena::map_channel(const Geometry& geometry, std::size_t node) {
  geometry_ = geometry;
  node_offset_ = geometry.blocks_offset + node * geometry.n_pes * geometry.stride;
  SHMEMX_TRY(bootstrap::size_job_file(fd_.get(), geometry.file_bytes));
  if (geometry.channel_bytes == 0) return {};
  const std::size_t offset = geometry.channel_offset + node * geometry.channel_bytes;
  SHMEMX_TRY_ASSIGN(mapping, map_shared(fd_.get(), offset, geometry.channel_bytes));
  channel_ = static_cast<std::byte*>(mapping);
  leave_out_of_dumps(channel_, geometry.channel_bytes);
  return {};
}

namespace {

// The address of a block whose PE's heap is to lie at heap.at.
std::uintptr_t block_at(const Geometry& geometry, const HeapAt& heap, std::size_t index) {
  const std::size_t heap_before = static_cast<std::size_t>(heap.own.value) * geometry.stride + geometry.heap_offset;
  return heap.at == 0 ? 0 : heap.at - heap_before + index * geometry.stride;
}

}  // namespace

Status Arena::map_blocks(const Geometry& geometry, std::size_t node, HeapAt heap) {
  SHMEMX_TRY(map_channel(geometry, node));
  const std::size_t bytes = geometry.n_pes * geometry.stride;
  SHMEMX_TRY_ASSIGN(reserved, reserve(bytes, geometry.alignment, block_at(geometry, heap, 0)));
  mapped_ = reserved;
  mapped_bytes_ = bytes;
  block0_ = reinterpret_cast<std::uintptr_t>(reserved);
  return map_over(reserved, bytes, fd_.get(), node_offset_);
}

Status Arena::map_own_block(const Geometry& geometry, std::size_t node, HeapAt heap, bool guard_others) {
  SHMEMX_TRY(map_channel(geometry, node));
  const auto own = static_cast<std::size_t>(heap.own.value);
  const std::size_t before = own * geometry.stride;
  const std::size_t reserved_before = guard_others ? before : 0;
  const std::size_t bytes = guard_others ? geometry.n_pes * geometry.stride : geometry.stride;
  const std::uintptr_t at = block_at(geometry, heap, guard_others ? 0 : own);
  SHMEMX_TRY_ASSIGN(reserved, reserve(bytes, geometry.alignment, at));
  mapped_ = reserved;
  mapped_bytes_ = bytes;
  std::byte* const block = static_cast<std::byte*>(reserved) + reserved_before;
  block0_ = reinterpret_cast<std::uintptr_t>(block) - before;
  return map_over(block, geometry.stride, fd_.get(), offset_of_block(heap.own));
}

bool Arena::follow_locking() const noexcept { return lock_on_touch(mapped_, mapped_bytes_); }

std::size_t Arena::resident_bytes() const noexcept {
  struct stat status;
  return ::fstat(fd(), &status) == 0 ? static_cast<std::size_t>(status.st_blocks) * 512 : 0;
}

bool Arena::discard_heap(NodeIndex pe, std::size_t offset, std::size_t bytes) const noexcept {
  return punch_hole(fd(), offset_of_block(pe) + geometry_.heap_offset + offset, bytes);
}

void Arena::dump_heap(NodeIndex pe, std::size_t bytes) const noexcept {
  take_into_dumps(heap(pe), bytes);
  leave_out_of_dumps(heap(pe) + bytes, geometry_.heap_bytes - bytes);
}

// The results say nothing that anybody could act on: where the kernel refuses, a dump holds more or less than it could.
void leave_out_of_dumps(void* address, std::size_t bytes) noexcept { ::madvise(address, bytes, MADV_DONTDUMP); }
void take_into_dumps(void* address, std::size_t bytes) noexcept { ::madvise(address, bytes, MADV_DODUMP); }

bool punch_hole(int fd, std::size_t offset, std::size_t bytes) noexcept {
  int result = 0;
  do {
    result = ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                         static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

}  // namespace shmemx::windows
