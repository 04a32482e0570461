#include "windows/exposure.hpp"

#include <atomic>
#include <mutex>
#include <new>
#include <vector>

#include "base/mutex.hpp"
#include "windows/range_set.hpp"
#include "windows/static_holes.hpp"

namespace shmemx::windows {
namespace {

// Built-in windows keep generation 0. The others: even while exposed, odd while not.
struct Entry {
  std::atomic<std::uint32_t> generation;
  std::atomic<std::byte*> base;
  std::atomic<std::uint64_t> bytes;
  std::atomic<std::uint32_t> users;  // transfers of networks
  std::atomic<RangeSet*> ranges;     // of the last window here that was a set; kept for the next one
};

// The bases of windows that have no memory of their own, and of those that are sets of ranges: never accessed.
constinit std::byte no_memory{};
constinit std::byte set_base{};

constexpr std::uint32_t kChunkEntries = 4096;
constexpr std::uint32_t kChunks = kMaxWindows / kChunkEntries;
constexpr std::uint32_t kLastGeneration = ~0U;  // odd: an entry that has had all generations rests

struct Table {
  Entry builtin[kBuiltinWindows];
  std::atomic<Entry*> chunks[kChunks];  // made when first needed, kept until the process ends
};
constinit Table table;

struct Indices {
  Mutex mutex;
  std::vector<std::uint32_t> unused;
  std::uint32_t next = kBuiltinWindows;  // from here on never used
};
// Never destroyed: a window may be freed while the process exits.
Indices& indices() {
  static auto* const instance = new Indices;
  return *instance;
}

Entry* entry_of(std::uint32_t index) noexcept {
  if (index < kBuiltinWindows) return &table.builtin[index];
  if (index >= kMaxWindows) return nullptr;
  Entry* const chunk = table.chunks[index / kChunkEntries].load(std::memory_order_acquire);  // the zeros of a new chunk
  return chunk == nullptr ? nullptr : chunk + index % kChunkEntries;
}

// Under the mutex. Null: no memory.
Entry* make_entry(std::uint32_t index) noexcept {
  auto& chunk = table.chunks[index / kChunkEntries];
  if (chunk.load(std::memory_order_relaxed) == nullptr) {  // written under the mutex only
    auto* const made = new (std::nothrow) Entry[kChunkEntries]();
    if (made == nullptr) return nullptr;
    for (std::uint32_t i = 0; i < kChunkEntries; ++i)
      made[i].generation.store(1, std::memory_order_relaxed);  // published by the chunk's store
    chunk.store(made, std::memory_order_release);
  }
  return entry_of(index);
}

// The ranges of a window that is or was a set, or of an earlier set in its place, which has none. Null: there was no
// set.
RangeSet* ranges_of(WindowName window) noexcept {
  return entry_of(window.index)->ranges.load(std::memory_order_acquire);  // expose
}

}  // namespace

ExposedRange range_of_exposed(WindowName window) noexcept {
  const Entry* const entry = entry_of(window.index);
  if (entry == nullptr) return {};
  if (entry->generation.load(std::memory_order_acquire) != window.generation) return {};  // expose
  std::byte* const base = entry->base.load(std::memory_order_acquire);                    // withdraw
  const std::uint64_t bytes = entry->bytes.load(std::memory_order_acquire);               // withdraw
  if (entry->generation.load(std::memory_order_relaxed) != window.generation) return {};  // after the two above
  return {base, bytes};
}

std::uint64_t removed_at(WindowName window, std::uint64_t offset, std::uint64_t bytes) noexcept {
  return range_of_exposed(window).base == &set_base ? ranges_of(window)->removed_at(offset, bytes) : 0;
}

ExposedRange range_around(WindowName window, std::uint64_t offset) noexcept {
  const ExposedRange range = range_of_exposed(window);
  if (range.base != &set_base) return offset < range.bytes ? range : ExposedRange{};
  std::uint64_t begin = 0;
  const std::uint64_t bytes = ranges_of(window)->range_around(offset, begin);
  if (bytes == 0) return {};
  return {reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(begin)), bytes, begin};
}

namespace {

[[gnu::noinline]] std::byte* find_in_set(WindowName window, std::uint64_t address, std::uint64_t bytes) noexcept {
  const bool is_there = ranges_of(window)->has(address, bytes);
  return is_there ? reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address)) : nullptr;
}

}  // namespace

std::byte* find_exposed(WindowName window, std::uint64_t offset, std::uint64_t bytes) noexcept {
  const ExposedRange range = range_of_exposed(window);
  if (range.base == nullptr) return nullptr;
  if (offset <= range.bytes && bytes <= range.bytes - offset) [[likely]] {
    const bool is_in_hole = window == kStaticWindow && bytes != 0 && touches_static_hole(offset, bytes);
    return is_in_hole ? nullptr : range.base + offset;
  }
  return range.base == &set_base ? find_in_set(window, offset, bytes) : nullptr;
}

namespace {

// Takes an entry for a new window. Null: none is left.
Entry* begin_exposing(Indices& all, WindowName& window) noexcept {
  const bool is_fresh = all.unused.empty();
  const std::uint32_t index = is_fresh ? all.next : all.unused.back();
  if (index == kMaxWindows) return nullptr;
  Entry* const entry = make_entry(index);
  if (entry == nullptr) return nullptr;
  if (is_fresh) {
    ++all.next;
  } else {
    all.unused.pop_back();
  }
  window = {index, entry->generation.load(std::memory_order_relaxed) + 1};  // written under the mutex only
  return entry;
}

void end_exposing(Entry& entry, const ExposedRange& range, WindowName window) noexcept {
  entry.base.store(range.base, std::memory_order_release);               // withdraw
  entry.bytes.store(range.bytes, std::memory_order_release);             // withdraw
  entry.generation.store(window.generation, std::memory_order_release);  // expose
}

// Under the endpoint's lock, so that no increment is lost.
void add_user(WindowName window, std::uint32_t change) noexcept {
  auto& users = entry_of(window.index)->users;
  users.store(users.load(std::memory_order_relaxed) + change, std::memory_order_release);  // use
}

}  // namespace

RangeSet* set_of(WindowName window) noexcept {
  return range_of_exposed(window).base == &set_base ? ranges_of(window) : nullptr;
}

void begin_use(WindowName window, std::uint64_t offset, std::uint64_t bytes) noexcept {
  add_user(window, 1);
  if (RangeSet* const set = set_of(window)) set->begin_use(offset, bytes);
}
// The window may have been withdrawn, but no other one has taken its place.
void end_use(WindowName window, std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (RangeSet* const set = ranges_of(window)) set->end_use(offset, bytes);
  add_user(window, ~std::uint32_t{0});
}
bool is_in_use(WindowName window) noexcept {
  return entry_of(window.index)->users.load(std::memory_order_acquire) != 0;  // use
}

void expose_builtin(WindowName window, std::byte* base, std::uint64_t bytes) noexcept {
  if (window.index >= kBuiltinWindows) return;
  Entry& entry = table.builtin[window.index];
  // At init and at the end, between barriers: nobody looks meanwhile.
  entry.bytes.store(0, std::memory_order_release);
  entry.base.store(bytes == 0 ? nullptr : base, std::memory_order_release);
  entry.bytes.store(bytes, std::memory_order_release);
}

bool expose(std::byte* base, std::uint64_t bytes, WindowName& window) noexcept {
  Indices& all = indices();
  const std::lock_guard lock(all.mutex);
  Entry* const entry = begin_exposing(all, window);
  if (entry == nullptr) return false;
  end_exposing(*entry, {base == nullptr ? &no_memory : base, bytes}, window);
  return true;
}

bool expose_ranges(WindowName& window) noexcept {
  Indices& all = indices();
  const std::lock_guard lock(all.mutex);
  Entry* const entry = begin_exposing(all, window);
  if (entry == nullptr) return false;
  if (entry->ranges.load(std::memory_order_relaxed) == nullptr)  // written under the mutex only
    entry->ranges.store(new RangeSet, std::memory_order_release);
  end_exposing(*entry, {&set_base, 0}, window);
  return true;
}

bool withdraw(WindowName window) noexcept {
  if (window.index < kBuiltinWindows || window.generation % 2 != 0) return false;
  Indices& all = indices();
  const std::lock_guard lock(all.mutex);
  Entry* const entry = entry_of(window.index);
  if (entry == nullptr || entry->generation.load(std::memory_order_relaxed) != window.generation) return false;
  entry->generation.store(window.generation + 1, std::memory_order_release);
  entry->base.store(nullptr, std::memory_order_release);  // withdraw
  entry->bytes.store(0, std::memory_order_release);       // withdraw
  if (RangeSet* const set = entry->ranges.load(std::memory_order_relaxed)) set->clear();
  if (window.generation + 1 != kLastGeneration) all.unused.push_back(window.index);
  return true;
}

}  // namespace shmemx::windows
