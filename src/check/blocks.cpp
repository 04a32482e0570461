#include "check/blocks.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>

#include "base/cache_line.hpp"
#include "base/fatal.hpp"
#include "base/mutex.hpp"
#include "check/checks.hpp"
#include "check/variables.hpp"
#include "heap/node_pool.hpp"

namespace shmemx::check {
namespace {

constexpr std::uint64_t kZoneBytes = 64;          // in front of a block, and the least behind it
constexpr std::uint64_t kBehindBytes = 256;       // behind a block, up to the next multiple of 64
constexpr std::uint64_t kMostBeforeBytes = 4096;  // blocks of a larger alignment have no zone in front
constexpr std::byte kZoneFill{0xfb};
constexpr std::byte kFreedFill{0xfd};
constexpr std::uint64_t kFilledBytes = std::uint64_t{1} << 20;  // of a freed block, at either end
constexpr std::uint64_t kKeptBytes = std::uint64_t{64} << 20;   // of memory in the quarantine
constexpr std::uint64_t kKeptShare = 8;                         // of the heap, by addresses: 1 / kKeptShare
constexpr std::uint64_t kKeptBlocks = 4096;
constexpr std::uint64_t kVerifiedBytes = std::uint64_t{128} << 10;  // in a call

namespace intrusive = boost::intrusive;

struct Block : intrusive::set_base_hook<intrusive::link_mode<intrusive::normal_link>> {
  Span outer{};
  Span inner{};
  Place allocated;
  Place freed;  // no routine: it is live
  Block* freed_next = nullptr;

  bool is_freed() const noexcept { return freed.routine != nullptr; }
  Offset inner_end() const noexcept { return inner.begin + inner.bytes; }
  Offset outer_end() const noexcept { return outer.begin + outer.bytes; }
  // Of a freed block, what is filled: `head` from its begin on, and `tail` up to its end.
  std::uint64_t head() const noexcept { return std::min(inner.bytes, kFilledBytes); }
  std::uint64_t tail() const noexcept { return std::min(inner.bytes - head(), kFilledBytes); }
};
struct OuterBegin {
  using type = Offset;
  type operator()(const Block& block) const noexcept { return block.outer.begin; }
};

struct WatchedHeap {
  Mutex mutex;
  heap::NodePool<Block> pool;
  intrusive::set<Block, intrusive::key_of_value<OuterBegin>> by_offset;
  Block* first_freed = nullptr;
  Block* last_freed = nullptr;
  std::uint64_t kept_blocks = 0;  // freed ones
  std::uint64_t kept_range = 0;   // by addresses
  std::uint64_t kept_memory = 0;  // that is filled
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
  Offset next_verified = 0;
};
// Never destroyed: threads may still use the library while the process exits.
WatchedHeap& watched() {
  static auto* const instance = new WatchedHeap;
  return *instance;
}

using Guard = std::lock_guard<Mutex>;

bool is_watched() noexcept { return enabled.has(Checks::heap); }

// The last block that begins at or before the offset; null if there is none. Requires the mutex.
Block* block_before(Offset offset) {
  auto& blocks = watched().by_offset;
  const auto behind = blocks.upper_bound(offset);
  return behind == blocks.begin() ? nullptr : &*std::prev(behind);
}

// The block whose zones or bytes hold the offset; null if there is none. Requires the mutex.
Block* block_around(Offset offset) {
  Block* const block = block_before(offset);
  return block != nullptr && offset < block->outer_end() ? block : nullptr;
}

std::string in_bytes(std::uint64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

// Returns "8 bytes into a block of 64 bytes".
std::string position_in(const Block& block, Offset offset) {
  const std::string of_block = "a block of " + in_bytes(block.inner.bytes);
  if (offset < block.inner.begin) return in_bytes(block.inner.begin - offset) + " in front of " + of_block;
  if (offset >= block.inner_end()) {
    const std::uint64_t behind = offset - block.inner_end();
    return behind == 0 ? "at the end of " + of_block : in_bytes(behind) + " behind the end of " + of_block;
  }
  if (offset == block.inner.begin) return "at the begin of " + of_block;
  return in_bytes(offset - block.inner.begin) + " into " + of_block;
}

std::string history_of(const Block& block) {
  const Places places;
  std::string text = "allocated by " + places.text(block.allocated);
  if (block.is_freed()) text += ", freed by " + places.text(block.freed);
  return text;
}

[[noreturn]] void bad_access(const char* routine, const char* argument, const Block& block, const Span& access) {
  const std::string position = position_in(block, access.begin);
  const std::string history = history_of(block);
  const bool is_inside = access.begin >= block.inner.begin && access.begin < block.inner_end();
  if (block.is_freed())
    fatal(routine, "argument '%s' is %s, which has been freed: %s", argument, position.c_str(), history.c_str());
  if (!is_inside)
    fatal(routine, "argument '%s' is %s, in its red zone: %s", argument, position.c_str(), history.c_str());
  fatal(routine, "argument '%s' is %s, and %s from there go %s past its end: %s", argument, position.c_str(),
        in_bytes(access.bytes).c_str(), in_bytes(access.begin + access.bytes - block.inner_end()).c_str(),
        history.c_str());
}

[[noreturn]] void bad_place(const char* routine, const char* argument, Offset offset) {
  const Block* const before = block_before(offset);
  if (before == nullptr)
    fatal(routine, "argument '%s' is in the symmetric heap, in memory that is not allocated", argument);
  fatal(routine, "argument '%s' is %s, in memory that is not allocated; the block: %s", argument,
        position_in(*before, offset).c_str(), history_of(*before).c_str());
}

[[noreturn]] void was_written(const char* routine, const Block& block, Offset at) {
  fatal(routine, "finds that something was stored %s%s: %s", position_in(block, at).c_str(),
        block.is_freed() ? ", after it had been freed" : "", history_of(block).c_str());
}

void fill(const Span& span, std::byte value) {
  std::memset(watched().base + span.begin, static_cast<int>(value), span.bytes);
}

// Ends the job if a byte there has another value.
void expect(const char* routine, const Block& block, const Span& span, std::byte value) {
  const std::byte* const bytes = watched().base + span.begin;
  if (span.bytes == 0 || (bytes[0] == value && std::memcmp(bytes, bytes + 1, span.bytes - 1) == 0)) return;
  const std::byte* const found = std::find_if(bytes, bytes + span.bytes, [&](std::byte byte) { return byte != value; });
  was_written(routine, block, span.begin + static_cast<std::uint64_t>(found - bytes));
}

Span zone_before(const Block& block) { return {block.outer.begin, block.inner.begin - block.outer.begin}; }
Span zone_behind(const Block& block) { return {block.inner_end(), block.outer_end() - block.inner_end()}; }
Span head_of(const Block& block) { return {block.inner.begin, block.head()}; }
Span tail_of(const Block& block) { return {block.inner_end() - block.tail(), block.tail()}; }

// Returns how many bytes it has looked at.
std::uint64_t verify_block(const char* routine, const Block& block) {
  expect(routine, block, zone_before(block), kZoneFill);
  expect(routine, block, zone_behind(block), kZoneFill);
  const std::uint64_t zones = block.outer.bytes - block.inner.bytes;
  if (!block.is_freed()) return zones;
  expect(routine, block, head_of(block), kFreedFill);
  expect(routine, block, tail_of(block), kFreedFill);
  return zones + block.head() + block.tail();
}

void remove(Block& block) {
  WatchedHeap& heap = watched();
  heap.by_offset.erase(heap.by_offset.iterator_to(block));
  heap.pool.give_back(&block);
}

Offset release_oldest(const char* routine) {
  WatchedHeap& heap = watched();
  Block& block = *heap.first_freed;
  if (is_watched()) verify_block(routine, block);
  heap.first_freed = block.freed_next;
  if (heap.first_freed == nullptr) heap.last_freed = nullptr;
  --heap.kept_blocks;
  heap.kept_range -= block.outer.bytes;
  heap.kept_memory -= block.head() + block.tail();
  const Offset begin = block.outer.begin;
  remove(block);
  return begin;
}

}  // namespace

Padding padding_of(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  if (!is_watched() || bytes > watched().bytes) return {};
  const std::uint64_t before = alignment > kMostBeforeBytes ? 0 : std::max(alignment, kZoneBytes);
  return {before, round_up(bytes + kBehindBytes, kZoneBytes) - bytes};
}

namespace {

void forget_blocks() {
  WatchedHeap& heap = watched();
  const Guard guard(heap.mutex);
  heap.by_offset.clear_and_dispose([&](Block* block) { heap.pool.give_back(block); });
  heap.first_freed = heap.last_freed = nullptr;
  heap.kept_blocks = heap.kept_range = heap.kept_memory = heap.next_verified = 0;
}

}  // namespace

void watch_heap(std::byte* heap, std::uint64_t bytes) noexcept {
  forget_blocks();
  watched().base = heap;
  watched().bytes = bytes;
  static_cast<void>(here(""));  // the first walk of a stack loads what it needs
}

void add_block(const Span& outer, const Padding& padding, std::uint64_t bytes, const char* routine) noexcept {
  if (!is_on()) return;
  const Place place = here(routine);
  WatchedHeap& heap = watched();
  const Guard guard(heap.mutex);
  if (!heap.pool.reserve(1)) fatal(routine, "there is no memory for what SHMEM_CHECK notes of a block");
  Block& block = *heap.pool.take();
  block.outer = outer;
  block.inner = {outer.begin + padding.before, bytes};
  block.allocated = place;
  heap.by_offset.insert(block);
  if (!is_watched()) return;
  fill(zone_before(block), kZoneFill);
  fill(zone_behind(block), kZoneFill);
}

void take_back(Offset begin) noexcept {
  if (!is_on()) return;
  const Guard guard(watched().mutex);
  if (Block* const block = block_around(begin); block != nullptr) remove(*block);
}

std::optional<BlockView> find_block(Offset offset) noexcept {
  const Guard guard(watched().mutex);
  const Block* const block = block_around(offset);
  if (block == nullptr) return std::nullopt;
  return BlockView{block->inner, block->outer, block->is_freed()};
}

Span retire(Offset begin, const char* routine) noexcept {
  const Place place = here(routine);
  WatchedHeap& heap = watched();
  const Guard guard(heap.mutex);
  Block& block = *block_around(begin);
  if (is_watched()) verify_block(routine, block);
  block.freed = place;
  if (heap.last_freed != nullptr) heap.last_freed->freed_next = &block;
  if (heap.first_freed == nullptr) heap.first_freed = &block;
  heap.last_freed = &block;
  ++heap.kept_blocks;
  heap.kept_range += block.outer.bytes;
  heap.kept_memory += block.head() + block.tail();
  if (!is_watched()) return {};
  fill(head_of(block), kFreedFill);
  fill(tail_of(block), kFreedFill);
  const Offset first = round_up(block.inner.begin + block.head(), kPageBytes);
  const Offset last = round_down(block.inner_end() - block.tail(), kPageBytes);
  return first < last ? Span{first, last - first} : Span{};
}

std::optional<Offset> take_expired(const char* routine) noexcept {
  WatchedHeap& heap = watched();
  const Guard guard(heap.mutex);
  const bool has_room = is_watched() && heap.kept_blocks <= kKeptBlocks && heap.kept_range <= heap.bytes / kKeptShare &&
                        heap.kept_memory <= kKeptBytes;
  if (has_room || heap.first_freed == nullptr) return std::nullopt;
  return release_oldest(routine);
}

std::optional<Offset> take_oldest(const char* routine) noexcept {
  WatchedHeap& heap = watched();
  const Guard guard(heap.mutex);
  if (heap.first_freed == nullptr) return std::nullopt;
  return release_oldest(routine);
}

void verify(const char* routine, Extent extent) noexcept {
  check_thread(routine);
  if (!is_watched()) return;
  WatchedHeap& heap = watched();
  const Guard guard(heap.mutex);
  std::uint64_t left = extent == Extent::all ? ~std::uint64_t{0} : kVerifiedBytes;
  auto block = heap.by_offset.lower_bound(heap.next_verified);
  for (std::size_t count = heap.by_offset.size(); count > 0; --count) {
    if (block == heap.by_offset.end()) block = heap.by_offset.begin();
    const std::uint64_t looked_at = verify_block(routine, *block++);
    if (looked_at >= left) break;
    left -= looked_at;
  }
  heap.next_verified = block == heap.by_offset.end() ? 0 : block->outer.begin;
}

void check_access(const char* routine, const char* argument, Offset offset, std::uint64_t bytes) noexcept {
  if (!is_watched() || bytes == 0) return;
  const Guard guard(watched().mutex);
  const Block* const block = block_around(offset);
  if (block == nullptr) bad_place(routine, argument, offset);
  const bool is_inside = offset >= block->inner.begin && offset < block->inner_end();
  if (!is_inside || bytes > block->inner_end() - offset || block->is_freed())
    bad_access(routine, argument, *block, {offset, bytes});
}

void check_memory(const char* routine, const char* argument, const void* address, std::uint64_t bytes) noexcept {
  const Offset offset = static_cast<const std::byte*>(address) - watched().base;
  if (offset < watched().bytes) return check_access(routine, argument, offset, bytes);
  check_variable(routine, argument, address, bytes);
}

void bad_free(const char* routine, Offset offset) noexcept {
  const Guard guard(watched().mutex);
  const Block* const block = block_around(offset);
  if (block == nullptr) bad_place(routine, "ptr", offset);
  const std::string history = history_of(*block);
  if (block->is_freed() && offset == block->inner.begin) {
    fatal(routine, "argument 'ptr' is a block of %s that has been freed already: %s",
          in_bytes(block->inner.bytes).c_str(), history.c_str());
  }
  fatal(routine, "argument 'ptr' is %s%s, allowed is its begin: %s", position_in(*block, offset).c_str(),
        block->is_freed() ? ", which has been freed" : "", history.c_str());
}

void check_foreign_free(const char* routine, const char* right_one, const void* memory) noexcept {
  const Offset offset = static_cast<const std::byte*>(memory) - watched().base;
  if (offset >= watched().bytes) return;
  const Guard guard(watched().mutex);
  const Block* const block = block_around(offset);
  if (block == nullptr) bad_place(routine, "ptr", offset);
  fatal(routine, "argument 'ptr' is %s of the symmetric heap, which %s is for: %s", position_in(*block, offset).c_str(),
        right_one, history_of(*block).c_str());
}

void for_each_live_block(void (*use)(void* state, std::uint64_t bytes, const Place& place), void* state) noexcept {
  const Guard guard(watched().mutex);
  for (const Block& block : watched().by_offset) {
    if (!block.is_freed()) use(state, block.inner.bytes, block.allocated);
  }
}

}  // namespace shmemx::check
