#include "runtime/memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/fatal.hpp"
#include "base/machine.hpp"
#include "coll/group.hpp"
#include "rma/copy.hpp"
#include "rma/order.hpp"
#include "runtime/job.hpp"

namespace shmemx::runtime {
namespace {

constexpr std::size_t kCheckAheadBytes = std::size_t{16} << 20;  // look at the machine's memory once for so much growth

// What a PE does in a memory routine; all PEs have to do the same.
struct MemoryCall {
  std::uint64_t bytes;
  std::uint64_t alignment;
  std::uint64_t offset;    // of the block that is released or resized
  std::uint64_t done;      // 1: this PE could
  std::uint64_t turn = 0;  // which exchange of the world this is: a PE that is in another routine shows an old one
};

// Starts again at each init.
struct HeapExtent {
  heap::Offset touched = 0;    // from here on memory is still as the kernel gave it, zero
  heap::Offset backed = 0;     // up to here the machine was found to have memory
  heap::Offset dumped = 0;     // up to here core dumps of this PE hold the heap
  std::size_t high_water = 0;  // of what was granted
};
constinit HeapExtent extent;

coll::Team& world_team() { return coll::team_table[coll::kWorldTeam]; }
std::byte* heap_begin() { return reinterpret_cast<std::byte*>(context::default_context().heap_base); }

void report_exhausted(const char* routine, std::size_t bytes, const char* limit, std::uint64_t available) {
  const heap::Usage usage = allocator().usage();
  debug_line(
      "%s: no room for %zu bytes: %s leaves %llu; largest free block %zu, heap %zu, in use %zu, at most %zu so far; "
      "set "
      "SHMEM_SYMMETRIC_SIZE for a larger heap",
      routine, bytes, limit, static_cast<unsigned long long>(available), usage.largest_free, usage.capacity, usage.used,
      usage.high_water);
}

// Does the machine have the memory for a heap that ends at `end` on each PE? Pages come on first touch, and a later
// store must not die.
bool is_backed(const char* routine, std::size_t bytes, heap::Offset end) {
  if (end <= extent.backed) return true;
  const std::uint64_t n_pes = arena().header().n_node_pes;
  const std::uint64_t memory = available_memory_bytes() + arena().resident_bytes();
  if (end > memory / n_pes) {
    report_exhausted(routine, bytes, "this machine's (or cgroup's) memory, shared by the node's PEs,", memory / n_pes);
    return false;
  }
  extent.backed = std::min<heap::Offset>(end + kCheckAheadBytes, memory / n_pes);
  return true;
}

// One barrier of the world. Afterwards every PE knows that all do the same, and whether all could.
bool agree(const char* routine, MemoryCall mine) {
  coll::TeamGroup group(world_team(), routine);
  rma::quiet();
  mine.turn = world_team().exchanges + 1;
  group.publish(&mine, sizeof mine);
  group.sync();
  bool all_done = true;
  for (int pe = 0; pe < group.size(); ++pe) {
    MemoryCall theirs;
    std::memcpy(&theirs, group.published(pe), sizeof theirs);
    if (theirs.turn != mine.turn) {
      fatal(routine,
            "PE %d is not in this routine, or asks for 0 bytes or names a null pointer, all PEs have to make the same "
            "call",
            pe);
    }
    if (theirs.bytes != mine.bytes || theirs.alignment != mine.alignment) {
      fatal(
          routine,
          "argument 'size' is %llu here and %llu on PE %d (alignment %llu and %llu), all PEs have to ask for the same",
          static_cast<unsigned long long>(mine.bytes), static_cast<unsigned long long>(theirs.bytes), pe,
          static_cast<unsigned long long>(mine.alignment), static_cast<unsigned long long>(theirs.alignment));
    }
    if (theirs.offset != mine.offset) {
      fatal(routine,
            "argument 'ptr' is the block at heap offset %llu here and the one at %llu on PE %d, all PEs have to name "
            "the same block",
            static_cast<unsigned long long>(mine.offset), static_cast<unsigned long long>(theirs.offset), pe);
    }
    all_done = all_done && theirs.done != 0;
  }
  return all_done;
}

heap::Offset offset_of_block(const char* routine, const void* block) {
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(block) - context::default_context().heap_base;
  if (allocator().size_of(offset)) return offset;
  const auto around = allocator().find(offset);
  if (!around) {
    fatal(routine,
          "argument 'ptr' is %p, which is not in the symmetric heap, allowed are blocks of shmem_malloc and its kin",
          block);
  }
  if (!around->live) fatal(routine, "argument 'ptr' is %p, which has been freed already or was never allocated", block);
  fatal(routine, "argument 'ptr' is %p, which is %llu bytes inside a block, allowed is its begin %p", block,
        static_cast<unsigned long long>(offset - around->offset), static_cast<void*>(heap_begin() + around->offset));
}

std::optional<heap::Offset> allocate_here(const AllocateRequest& request) {
  const auto offset = allocator().allocate(request.bytes, request.alignment);
  if (!offset) {
    report_exhausted(request.routine, request.bytes, "the symmetric heap", allocator().usage().largest_free);
    return std::nullopt;
  }
  if (is_backed(request.routine, request.bytes, *offset + request.bytes)) return offset;
  static_cast<void>(allocator().release(*offset));
  return std::nullopt;
}

// In steps of a huge page: the kernel keeps ranges of different kinds apart, and a huge page lies within one of them.
void dump_heap_up_to(heap::Offset end) {
  if (end <= extent.dumped) return;
  extent.dumped = std::min<heap::Offset>(round_up(end, kHugePageBytes), arena().geometry().heap_bytes);
  arena().dump_heap(context::default_context().my_pe, extent.dumped);
}

// All PEs have a block that ends at `end`.
void note_granted(heap::Offset end) {
  dump_heap_up_to(end);
  extent.touched = std::max(extent.touched, end);
  extent.high_water = std::max(extent.high_water, allocator().usage().used);
}

// Reused memory only: what was never handed out is zero.
void zero_fill(heap::Offset offset, std::size_t bytes) {
  if (offset < extent.touched)
    std::memset(heap_begin() + offset, 0, std::min<std::size_t>(bytes, extent.touched - offset));
}

}  // namespace

std::size_t heap_high_water() noexcept { return extent.high_water; }

void discard_heap() noexcept {
  const int me = context::default_context().my_pe;
  arena().dump_heap(me, 0);
  const bool discarded = arena().discard_heap(me, 0, arena().geometry().heap_bytes);
  if (!discarded) debug_line("the heap's memory cannot be given back to the system: %s", std::strerror(errno));
  const heap::Offset not_zero = discarded ? 0 : extent.touched;
  extent = HeapExtent{};
  extent.touched = not_zero;
}

void* allocate(const AllocateRequest& request) noexcept {
  context::require_initialized(request.routine);
  if (request.bytes == 0) return nullptr;
  const auto offset = allocate_here(request);
  if (offset && request.zero) zero_fill(*offset, request.bytes);
  const bool all = agree(request.routine, {request.bytes, request.alignment, 0, offset ? 1U : 0U});
  if (!all) {
    if (offset) static_cast<void>(allocator().release(*offset));
    return nullptr;
  }
  note_granted(*offset + request.bytes);
  return heap_begin() + *offset;
}

void release(const char* routine, void* block) noexcept {
  context::require_initialized(routine);
  if (block == nullptr) return;
  const heap::Offset offset = offset_of_block(routine, block);
  agree(routine, {0, 0, offset, 1});
  static_cast<void>(allocator().release(offset));
}

void* reallocate(const char* routine, void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return allocate({routine, bytes, kCacheLine});
  context::require_initialized(routine);
  if (bytes == 0) {
    release(routine, block);
    return nullptr;
  }
  const heap::Offset offset = offset_of_block(routine, block);
  const std::size_t old_bytes = *allocator().size_of(offset);
  // Entry: no PE may still put into a block that is about to move. In place needs no memory check of its own beyond the
  // new end.
  agree(routine, {bytes, 0, offset, 1});
  if (allocator().resize_in_place(offset, bytes)) {
    const bool fits = is_backed(routine, bytes, offset + bytes);
    if (!agree(routine, {bytes, 0, offset, fits ? 1U : 0U})) {
      static_cast<void>(allocator().resize_in_place(offset, old_bytes));
      return nullptr;
    }
    note_granted(offset + bytes);
    return block;
  }
  void* const moved = allocate({routine, bytes, kCacheLine});
  if (moved == nullptr) return nullptr;
  rma::copy(moved, block, std::min(old_bytes, bytes));
  release(routine, block);
  return moved;
}

}  // namespace shmemx::runtime
