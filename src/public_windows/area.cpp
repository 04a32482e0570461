#include "public_windows/area.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>

#include "base/cache_line.hpp"
#include "base/contact_table.hpp"
#include "base/fatal.hpp"
#include "base/lazy_mapping.hpp"
#include "base/machine.hpp"
#include "base/mutex.hpp"
#include "bootstrap/wire.hpp"
#include "heap/block_allocator.hpp"
#include "public_windows/node.hpp"
#include "windows/arena.hpp"

namespace shmemx::public_windows {
namespace {

struct Segment {
  std::byte* base = nullptr;
  std::unique_ptr<heap::BlockAllocator> blocks;  // own segments only, as the next
  std::uint64_t dumped = 0;                      // up to here core dumps of this PE hold the segment
};
struct Area {
  Directory* directory = nullptr;
  Segment segments[kSegments];
};
struct Areas {
  Mutex mutex;
  std::uint64_t begin = 0;            // of the first area in the file
  std::uint64_t unchecked_bytes = 0;  // allocated since the last check whether the machine has memory
  Contacts<Area> of_pe;
};
// Never destroyed: threads may use windows while the process exits.
Areas& areas() {
  static auto* const instance = new Areas;
  return *instance;
}

std::uint64_t area_begin(int pe) { return areas().begin + node().place_of(pe) * kAreaBytes; }

// Under the mutex.
Area& area_of(int pe) { return areas().of_pe.get(pe); }

std::byte* map_range(int pe, std::uint64_t offset, std::uint64_t bytes) {
  void* const address = map_on_touch(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, node().fd(),
                                     area_begin(pe) + offset);
  if (address == MAP_FAILED) {
    debug_line("cannot map %llu bytes of windows of PE %d (limit: ulimit -v)", static_cast<unsigned long long>(bytes),
               pe);
    return nullptr;
  }
  windows::leave_out_of_dumps(address, bytes);
  return static_cast<std::byte*>(address);
}

// Under the mutex.
std::byte* map_segment(int pe, int segment) {
  std::byte*& base = area_of(pe).segments[segment].base;
  if (base == nullptr) base = map_range(pe, segment_offset(segment), segment_bytes(segment));
  return base;
}

// As for the heap: a core dump holds what this PE has used of its own segments. Segments are multiples of huge pages.
void dump_up_to(Segment& segment, std::uint64_t end) {
  if (end <= segment.dumped) return;
  segment.dumped = round_up(end, kHugePageBytes);
  windows::take_into_dumps(segment.base, segment.dumped);
}

// The segment that holds the range; -1: none does.
int segment_of(std::uint64_t place, std::uint64_t bytes) {
  for (int segment = 0; segment < kSegments; ++segment) {
    const std::uint64_t offset = place - segment_offset(segment);
    if (place >= segment_offset(segment) && offset < segment_bytes(segment))
      return bytes <= segment_bytes(segment) - offset ? segment : -1;
  }
  return -1;
}

// Pages of their own from kPagedBytes on, so that they can be given back.
constexpr std::size_t kPagedBytes = 4096;
std::size_t alignment_of(std::size_t bytes) { return bytes >= kPagedBytes ? kPageBytes : kCacheLine; }

// Whole lines, so that windows share none.
std::size_t rounded(std::size_t bytes) { return round_up(bytes == 0 ? 1 : bytes, alignment_of(bytes)); }

// Under the mutex. The check reads files, so one check covers several small windows.
bool has_memory(std::size_t bytes) {
  constexpr std::uint64_t kCheckEvery = std::uint64_t{8} << 20;
  std::uint64_t& unchecked = areas().unchecked_bytes;
  unchecked += bytes;
  if (unchecked < kCheckEvery) return true;
  unchecked = 0;
  return bytes <= std::min(available_memory_bytes(), bootstrap::file_room_bytes(node().fd()));
}

}  // namespace

bool set_up_areas() noexcept {
  Areas& all = areas();
  const std::lock_guard lock(all.mutex);
  all.begin = round_up(node().file_bytes, kHugePageBytes);
  // All PEs give it the same size, so nobody cuts it short.
  if (const Status sized = bootstrap::size_job_file(node().fd(), all.begin + node().n_places * kAreaBytes); !sized) {
    debug_line("no room for windows in the node's file: %s", sized.error().text.c_str());
    return false;
  }
  all.of_pe.open(static_cast<std::size_t>(node().n_pes));
  return true;
}

Directory* directory_of(int pe) noexcept {
  Areas& all = areas();
  const std::lock_guard lock(all.mutex);
  Directory*& directory = area_of(pe).directory;
  if (directory == nullptr) directory = reinterpret_cast<Directory*>(map_range(pe, 0, kDirectoryBytes));
  return directory;
}

std::byte* allocate_memory(std::size_t bytes, std::uint64_t& place) noexcept {
  if (bytes > segment_bytes(kSegments - 1)) return nullptr;
  const std::size_t wanted = rounded(bytes);
  Areas& all = areas();
  const std::lock_guard lock(all.mutex);
  if (!has_memory(wanted)) return nullptr;
  Area& area = area_of(node().me);
  for (int i = 0; i < kSegments; ++i) {
    if (segment_bytes(i) < wanted) continue;
    std::byte* const base = map_segment(node().me, i);
    if (base == nullptr) return nullptr;
    Segment& segment = area.segments[i];
    if (segment.blocks == nullptr)
      segment.blocks = std::make_unique<heap::BlockAllocator>(segment_bytes(i), kPageBytes);
    const auto offset = segment.blocks->allocate(wanted, alignment_of(bytes));
    if (!offset) continue;
    place = segment_offset(i) + *offset;
    dump_up_to(segment, *offset + wanted);
    return base + *offset;
  }
  return nullptr;
}

void release_memory(std::uint64_t place) noexcept {
  Areas& all = areas();
  const std::lock_guard lock(all.mutex);
  const int i = segment_of(place, 0);
  if (i < 0) return;
  heap::BlockAllocator& blocks = *area_of(node().me).segments[i].blocks;
  const std::uint64_t offset = place - segment_offset(i);
  const std::size_t bytes = blocks.size_of(offset).value_or(0);
  if (!blocks.release(offset)) return;
  if (bytes < kPageBytes) return;
  // Its pages go back to the system; they belong to no other block, as the begin is a page's.
  // Where that is refused they stay for the next window: new memory of a window is not initialised.
  if (!windows::punch_hole(node().fd(), area_begin(node().me) + place, bytes))
    debug_line("the memory of a window cannot be given back to the system: %s", std::strerror(errno));
}

bool find_own_memory(const std::byte* base, std::uint64_t bytes, std::uint64_t& place) noexcept {
  const std::lock_guard lock(areas().mutex);
  const Area& area = area_of(node().me);
  for (int i = 0; i < kSegments; ++i) {
    const std::byte* const begin = area.segments[i].base;
    const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(base) - reinterpret_cast<std::uintptr_t>(begin);
    if (begin == nullptr || offset >= segment_bytes(i) || bytes > segment_bytes(i) - offset) continue;
    place = segment_offset(i) + offset;
    return true;
  }
  return false;
}

std::byte* map_memory(int pe, std::uint64_t place, std::uint64_t bytes) noexcept {
  const int segment = segment_of(place, bytes);
  if (segment < 0) return nullptr;
  const std::lock_guard lock(areas().mutex);
  std::byte* const base = map_segment(pe, segment);
  return base == nullptr ? nullptr : base + (place - segment_offset(segment));
}

}  // namespace shmemx::public_windows
