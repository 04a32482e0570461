#include "races/access.hpp"

#include <algorithm>
#include <mutex>

#include "races/report.hpp"

namespace shmemx::races {
namespace {

// Records in the cells of `bytes` from an address on, of which only the place in its cell counts.
void record_cells(Thread& thread, Cell* cell, const Range& range, const Operation& operation) noexcept {
  Access access{operation.stamp, operation.kind, 0, operation.where};
  std::uintptr_t at = range.begin;
  for (std::size_t left = range.bytes; left != 0;) {
    const std::size_t bytes = std::min(left, 8 - at % 8);
    access.bytes = static_cast<std::uint8_t>(bytes_mask(at, bytes));
    Access earlier;
    if (!is_recorded(*cell, pack(access)) && record(*cell, access, operation.knowledge, earlier))
      report(thread, {access, earlier, at, *cell});
    at += bytes;
    left -= bytes;
    ++cell;
  }
}

}  // namespace

Where where_of(Thread& thread, const CallPlace& call) noexcept {
  const std::uint32_t site = site_of(call.return_address);
  return {0, job.calls().add({stack_node(thread), site, routine_number(call.routine)})};
}

void record_local(Thread& thread, const Range& range, const Operation& operation) noexcept {
  for (std::uintptr_t at = range.begin; at != range.begin + range.bytes;) {
    const std::uintptr_t chunk_end = ((at >> MemoryMap::kChunkBits) + 1) << MemoryMap::kChunkBits;
    const std::size_t bytes = std::min(range.begin + range.bytes, chunk_end) - at;
    Cell* const cell = memory_map.find(at);
    if (cell == nullptr) return;
    record_cells(thread, cell, {at, bytes}, operation);
    at += bytes;
  }
}

void forget_values(SyncWord& word) noexcept {
  if (word.values == Values::history) job.history_of(word)->forget();
  word.values = Values::forgotten;
}

void record_range(Thread& thread, const Range& range, Kind kind, const Where& where) noexcept {
  record_local(thread, range, {thread.now, kind, where, thread.knowledge()});
}

void record_remote(Thread& thread, const Symmetric& place, std::size_t bytes, const Operation& operation) noexcept {
  if (bytes != 0) record_cells(thread, job.cell(place), {place.offset, bytes}, operation);
}

namespace {

// A store to another PE's memory through shmem_ptr. Its owner may wait for it, and then knows what this thread knows.
bool is_remote_word(const Range& range, const Cell* cell) noexcept {
  return (range.bytes == 4 || range.bytes == 8) && (range.begin & (range.bytes - 1)) == 0 && job.is_of_other_pe(cell);
}
void release_remote_word(Thread& thread, std::uintptr_t address) noexcept {
  Symmetric place{};
  if (!job.locate(address, place)) return;
  SyncWord& word = job.words().at(place.key_of_puts());
  {
    const std::lock_guard guard(word.lock);
    word.clock().join(*thread.clock, job.n_slots());
    forget_values(word);
  }
  thread.advance();
}

[[gnu::noinline]] void record_remote_store(Thread& thread, const Range& range, Cell& cell,
                                           const Where& where) noexcept {
  const Access access{thread.now, Kind::remote_store, static_cast<std::uint8_t>(bytes_mask(range.begin, range.bytes)),
                      where};
  Access earlier;
  if (record(cell, access, thread.knowledge(), earlier)) report(thread, {access, earlier, range.begin, cell});
  release_remote_word(thread, range.begin);
}

// Records what lies in one cell.
[[gnu::noinline]] void record_in_cell(Thread& thread, const Range& range, Kind kind, const void* pc) noexcept {
  Cell* const cell = memory_map.find(range.begin);
  if (cell == nullptr) return;
  const Where where{site_of(pc), stack_node(thread)};
  if (kind == Kind::store && is_remote_word(range, cell)) return record_remote_store(thread, range, *cell, where);
  const Access access{thread.now, kind, static_cast<std::uint8_t>(bytes_mask(range.begin, range.bytes)), where};
  Access earlier;
  if (record(*cell, access, thread.knowledge(), earlier)) report(thread, {access, earlier, range.begin, *cell});
  marks.set(range.begin, range.bytes, thread.mark | (kind == Kind::store ? 1 : 0));
}

}  // namespace

void check_freed(const void* block, std::size_t bytes, const CallPlace& call) noexcept {
  Thread* const thread = self;
  if (thread == nullptr || thread->in_library != 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const Access access{thread->now, Kind::store, 0xff, {}};
  for (std::uintptr_t at = begin; at < begin + bytes; at += 8) {
    Cell* const cell = memory_map.find(at);
    Access earlier;
    if (cell == nullptr || !find_race(*cell, access, thread->knowledge(), earlier)) continue;
    Access freed = access;
    freed.where = where_of(*thread, call);
    report(*thread, {freed, earlier, at, *cell});
    return;
  }
}

// Most cells have entries of the owning thread only, one for its last store and one for its last load. Everything else
// is left to record_in_cell. All calls are the last action, so that no registers are saved.
template <std::size_t kBytes, Kind kKind>
void record_aligned(std::uintptr_t address, const void* pc) noexcept {
  if (address % kBytes != 0) [[unlikely]]
    return record_wide(address, kBytes, kKind, pc);
  Thread* const thread = self;
  if (thread == nullptr || thread->in_library != 0) [[unlikely]]
    return;
  Cell* const cell = memory_map.find_known(address);
  std::uint32_t node = 0;
  if (cell == nullptr || !find_stack_node(*thread, node) || !cell_locks.enter(*cell)) [[unlikely]]
    return record_in_cell(*thread, {address, kBytes}, kKind, pc);
  const std::uint8_t bytes = kBytes == 8 ? 0xff : static_cast<std::uint8_t>(bytes_mask(address, kBytes));
  const bool is_recorded = record_owned(*cell, {pack(thread->now, kKind, bytes), pack(Where{site_of(pc), node})});
  cell_locks.leave();
  if (!is_recorded) [[unlikely]]
    return record_in_cell(*thread, {address, kBytes}, kKind, pc);
  marks.set_aligned<kBytes>(address, thread->mark | (kKind == Kind::store ? 1 : 0));
}

#define SHMEMX_RECORD(BYTES)                                                             \
  template void record_aligned<BYTES, Kind::load>(std::uintptr_t, const void*) noexcept; \
  template void record_aligned<BYTES, Kind::store>(std::uintptr_t, const void*) noexcept;
SHMEMX_RECORD(1)
SHMEMX_RECORD(2)
SHMEMX_RECORD(4)
SHMEMX_RECORD(8)

void record_wide(std::uintptr_t address, std::size_t bytes, Kind kind, const void* pc) noexcept {
  Thread* const thread = self;
  if (thread == nullptr || thread->in_library != 0) return;
  while (bytes != 0) {
    const std::size_t in_cell = std::min(bytes, 8 - address % 8);
    if (in_cell != 8 || !marks.hold<8>(address, own_stores, kind == Kind::store))
      record_in_cell(*thread, {address, in_cell}, kind, pc);
    address += in_cell;
    bytes -= in_cell;
  }
}

}  // namespace shmemx::races
