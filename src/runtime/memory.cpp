#include "runtime/memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "base/affinity.hpp"
#include "base/fatal.hpp"
#include "base/machine.hpp"
#include "bootstrap/wire.hpp"
#include "check/blocks.hpp"
#include "check/checks.hpp"
#include "check/owners.hpp"
#include "coll/exchange.hpp"
#include "context/address_text.hpp"
#include "onesided/order.hpp"
#include "rma/copy.hpp"
#include "runtime/job.hpp"
#include "stats/span.hpp"

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

  static bool merge(MemoryCall& into, const MemoryCall& from) noexcept {
    into.done &= from.done;
    return into.bytes == from.bytes && into.alignment == from.alignment && into.offset == from.offset &&
           into.turn == from.turn;
  }
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

// What stands in the way of an allocation, and what helps.
struct Limit {
  std::uint64_t bytes;  // that it leaves to a PE
  std::string what;
  const char* remedy;
};

void report_exhausted(const char* routine, std::size_t bytes, const Limit& limit) {
  const heap::Usage usage = allocator().usage();
  bootstrap::PeRecord& record = arena().record(diagnostic_identity().pe);
  record.refused_left.store(limit.bytes, std::memory_order_relaxed);  // for people, like the next one
  record.refused_bytes.store(bytes, std::memory_order_relaxed);
  context::note_refused_allocation(routine, bytes, limit.bytes);
  debug_line(
      "%s: no room for %zu bytes: %s leaves %llu; largest free block %zu, heap %zu, in use %zu, at most %zu so far; %s",
      routine, bytes, limit.what.c_str(), static_cast<unsigned long long>(limit.bytes), usage.largest_free,
      usage.capacity, usage.used, usage.high_water, limit.remedy);
}

Limit heap_limit() {
  return {allocator().usage().largest_free, "the symmetric heap", "set SHMEM_SYMMETRIC_SIZE for a larger heap"};
}

// The tightest of the bounds on the heap of each of the node's PEs.
Limit memory_limit() {
  const std::uint64_t machine = free_memory_bytes();
  const std::uint64_t group = cgroup_memory_available();
  const std::uint64_t file = bootstrap::file_room_bytes(arena().fd());
  const std::uint64_t least = std::min({machine, group, file});
  const std::uint64_t n_pes = arena().header().n_node_pes;
  const std::uint64_t share = (least + arena().resident_bytes()) / n_pes;
  const std::string among = ", shared by " + std::to_string(n_pes) + (n_pes == 1 ? " PE," : " PEs,");
  if (least == file)
    return {share, "the file system of " + bootstrap::directory_of_file(arena().fd()) + among,
            "make it larger, or allow memfd_create"};
  if (least == group)
    return {share, "the control group's memory limit" + among, "raise it, or use fewer PEs on this node"};
  return {share, "this machine's memory" + among, "use fewer PEs on this node"};
}

// Does the machine have the memory for a heap that ends at `end` on each PE? Pages come on first touch, and a later
// store must not die.
bool is_backed(const char* routine, std::size_t bytes, heap::Offset end) {
  if (end <= extent.backed) return true;
  const Limit limit = memory_limit();
  if (end > limit.bytes) {
    report_exhausted(routine, bytes, limit);
    return false;
  }
  extent.backed = std::min<heap::Offset>(end + kCheckAheadBytes, limit.bytes);
  return true;
}

// Ends the job if another PE does not do what this one does.
void check_same(const char* routine, const MemoryCall& mine, const MemoryCall& theirs, int pe) {
  if (theirs.turn != mine.turn) {
    fatal(routine,
          "PE %d is not in this routine, or asks for 0 bytes or names a null pointer, all PEs have to make the same "
          "call",
          pe);
  }
  if (theirs.bytes != mine.bytes || theirs.alignment != mine.alignment) {
    fatal(routine,
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
}

// Tells routines apart that allocate.
std::uint32_t number_of(const char* routine) {
  std::uint32_t number = 0;
  for (const char* at = routine; *at != '\0'; ++at) number = (number * 31 + static_cast<std::uint8_t>(*at)) & 0xffff;
  return number;
}

// One barrier of the world. Afterwards every PE knows that all do the same, and whether all could.
bool agree(const char* routine, coll::CallFamily family, MemoryCall mine) {
  coll::TeamGroup group(world_team(), routine,
                        "; all PEs have to make the same call, and one that asks for 0 bytes or names a null pointer "
                        "makes none");
  const check::TeamUse use(coll::kWorldTeam, routine);
  onesided::quiet(routine, {&context::default_context()});
  const std::uint32_t number = family == coll::CallFamily::allocate ? number_of(routine) : 0;
  group.begin(coll::call_word(coll::kind_of(family), number));
  mine.turn = world_team().exchanges + 1;
  coll::Disagreement<MemoryCall> other;
  if (coll::exchange_merged(group, mine, other)) return mine.done != 0;
  bool all_done = true;
  if (!group.is_direct()) check_same(routine, mine, other.data, other.pe);
  for (int pe = 0; group.is_direct() && pe < group.size(); ++pe) {
    MemoryCall theirs;
    std::memcpy(&theirs, group.published(pe), sizeof theirs);
    check_same(routine, mine, theirs, pe);
    all_done = all_done && theirs.done != 0;
  }
  return all_done;
}

heap::Offset offset_of_block(const char* routine, const void* block) {
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(block) - context::default_context().heap_base;
  if (check::is_on()) {
    const auto known = check::find_block(offset);
    if (known && !known->is_freed && known->inner.begin == offset) return offset;
    if (offset < allocator().usage().capacity) check::bad_free(routine, offset);
  } else if (allocator().size_of(offset)) {
    return offset;
  }
  const auto around = allocator().find(offset);
  if (!around) {
    fatal(routine,
          "argument 'ptr' is %p, which is not in the symmetric heap, allowed are blocks of shmem_malloc and its kin; "
          "memory of malloc is for free and realloc",
          block);
  }
  if (!around->live) fatal(routine, "argument 'ptr' is %p, which has been freed already or was never allocated", block);
  fatal(routine, "argument 'ptr' is %p, which is %llu bytes inside a block, allowed is its begin %p", block,
        static_cast<unsigned long long>(offset - around->offset), static_cast<void*>(heap_begin() + around->offset));
}

// A block as the allocator has it, with what SHMEM_CHECK adds around what the program asks for.
struct OuterBlock {
  check::Padding padding;
  std::uint64_t bytes;
  heap::Offset begin = 0;

  OuterBlock(std::uint64_t inner_bytes, std::uint64_t alignment)
      : padding(check::padding_of(inner_bytes, alignment)), bytes(padding.before + inner_bytes + padding.behind) {}
  heap::Offset inner() const { return begin + padding.before; }
  heap::Offset end() const { return begin + bytes; }
};

// Blocks that were freed and are kept make room, on all PEs the same ones.
bool find_room(const AllocateRequest& request, OuterBlock& block) {
  auto offset = allocator().allocate(block.bytes, request.alignment);
  while (!offset && check::is_on()) {
    const auto kept = check::take_oldest(request.routine);
    if (!kept) break;
    static_cast<void>(allocator().release(*kept));
    offset = allocator().allocate(block.bytes, request.alignment);
  }
  if (offset) block.begin = *offset;
  return offset.has_value();
}

bool allocate_here(const AllocateRequest& request, OuterBlock& block) {
  if (!find_room(request, block)) {
    report_exhausted(request.routine, request.bytes, heap_limit());
    return false;
  }
  if (is_backed(request.routine, request.bytes, block.end())) return true;
  static_cast<void>(allocator().release(block.begin));
  return false;
}

// In steps of a huge page: the kernel keeps ranges of different kinds apart, and a huge page lies within one of them.
void dump_heap_up_to(heap::Offset end) {
  if (end <= extent.dumped) return;
  extent.dumped = std::min<heap::Offset>(round_up(end, kHugePageBytes), arena().geometry().heap_bytes);
  arena().dump_heap(context::node_index(context::default_context().my_pe), extent.dumped);
}

// All PEs have a block that ends at `end`.
void note_granted(heap::Offset end) {
  dump_heap_up_to(end);
  extent.touched = std::max(extent.touched, end);
  extent.high_water = std::max(extent.high_water, allocator().usage().used);
  note_heap_usage();
}

// Reused memory only: what was never handed out is zero.
void zero_fill(heap::Offset offset, std::size_t bytes) {
  if (offset < extent.touched)
    std::memset(heap_begin() + offset, 0, std::min<std::size_t>(bytes, extent.touched - offset));
}

}  // namespace

std::size_t heap_high_water() noexcept { return extent.high_water; }

void note_heap_usage() noexcept {
  const heap::Usage usage = allocator().usage();
  bootstrap::PeRecord& record = arena().record(diagnostic_identity().pe);
  record.heap_used.store(usage.used, std::memory_order_relaxed);  // for people, like the next one
  record.heap_limit.store(usage.capacity, std::memory_order_relaxed);
}

void discard_heap() noexcept {
  const NodeIndex me = context::node_index(context::default_context().my_pe);
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
  const stats::RoutineSpan span(request.routine, stats::Family::memory, request.bytes);
  check::verify(request.routine, check::Extent::some);
  OuterBlock block(request.bytes, request.alignment);
  const bool is_here = allocate_here(request, block);
  if (is_here) {
    if (request.zero) zero_fill(block.inner(), request.bytes);
    check::add_block({block.begin, block.bytes}, block.padding, request.bytes, request.routine);
    if (block.padding.behind != 0) extent.touched = std::max(extent.touched, block.end());
  }
  const bool all =
      agree(request.routine, coll::CallFamily::allocate, {request.bytes, request.alignment, 0, is_here ? 1U : 0U});
  if (!all) {
    if (is_here) {
      check::take_back(block.begin);
      static_cast<void>(allocator().release(block.begin));
    }
    return nullptr;
  }
  note_granted(block.end());
  return heap_begin() + block.inner();
}

namespace {

// SHMEM_CHECK keeps the block for a while, so that later accesses to it are seen.
void release_checked(const char* routine, heap::Offset offset) {
  check::verify(routine, check::Extent::some);
  const check::Span unused = check::retire(offset, routine);
  const NodeIndex me = context::node_index(context::default_context().my_pe);
  if (unused.bytes != 0) static_cast<void>(arena().discard_heap(me, unused.begin, unused.bytes));
  while (const auto expired = check::take_expired(routine)) static_cast<void>(allocator().release(*expired));
  note_heap_usage();
}

std::size_t bytes_of_block(heap::Offset offset) {
  return check::is_on() ? check::find_block(offset)->inner.bytes : *allocator().size_of(offset);
}

void* reallocate_moving(const char* routine, void* block, std::size_t old_bytes, std::size_t bytes) {
  void* const moved = allocate({routine, bytes, kCacheLine});
  if (moved == nullptr) return nullptr;
  rma::copy(moved, block, std::min(old_bytes, bytes));
  release(routine, block);
  return moved;
}

}  // namespace

void release(const char* routine, void* block) noexcept {
  context::require_initialized(routine);
  if (block == nullptr) return;
  const stats::RoutineSpan span(routine, stats::Family::memory);
  const heap::Offset offset = offset_of_block(routine, block);
  agree(routine, coll::CallFamily::release, {0, 0, offset, 1});
  if (check::is_on()) return release_checked(routine, offset);
  static_cast<void>(allocator().release(offset));
  note_heap_usage();
}

void* reallocate(const char* routine, void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return allocate({routine, bytes, kCacheLine});
  context::require_initialized(routine);
  if (bytes == 0) {
    release(routine, block);
    return nullptr;
  }
  const heap::Offset offset = offset_of_block(routine, block);
  const std::size_t old_bytes = bytes_of_block(offset);
  // Entry: no PE may still put into a block that is about to move. In place needs no memory check of its own beyond the
  // new end.
  agree(routine, coll::CallFamily::reallocate, {bytes, 0, offset, 1});
  // With SHMEM_CHECK each block moves, which shows who still uses the old one.
  if (!check::is_on() && allocator().resize_in_place(offset, bytes)) {
    const bool fits = is_backed(routine, bytes, offset + bytes);
    if (!agree(routine, coll::CallFamily::reallocate, {bytes, 0, offset, fits ? 1U : 0U})) {
      static_cast<void>(allocator().resize_in_place(offset, old_bytes));
      return nullptr;
    }
    note_granted(offset + bytes);
    return block;
  }
  return reallocate_moving(routine, block, old_bytes, bytes);
}

}  // namespace shmemx::runtime
