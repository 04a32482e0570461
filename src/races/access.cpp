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

void record_range(Thread& thread, const Range& range, Kind kind, const Where& where) noexcept {
  record_local(thread, range, {thread.now, kind, where, thread.knowledge()});
}

void record_remote(Thread& thread, const Symmetric& place, std::size_t bytes, const Operation& operation) noexcept {
  if (bytes != 0) record_cells(thread, job.cell(place), {place.offset, bytes}, operation);
}

namespace {

// A store to another PE's memory through shmem_ptr. Its owner may wait for it, and then knows what this thread knows.
bool is_remote_word(std::uintptr_t address, std::size_t bytes) noexcept {
  return (bytes == 4 || bytes == 8) && address % bytes == 0 && job.is_of_other_pe(memory_map.find(address));
}
void release_remote_word(Thread& thread, std::uintptr_t address) noexcept {
  Symmetric place{};
  if (!job.locate(address, place)) return;
  SyncWord& word = job.words().at(place.key_of_puts());
  {
    const std::lock_guard guard(word.lock);
    word.clock().join(*thread.clock, job.n_slots());
  }
  thread.advance();
}

}  // namespace

void record_slow(Thread& thread, std::uintptr_t address, std::size_t bytes, Kind kind, const void* pc) noexcept {
  if (thread.in_library != 0) return;
  const bool is_remote = kind == Kind::store && is_remote_word(address, bytes);
  const Where where{site_of(pc), stack_node(thread)};
  const Kind recorded = is_remote ? Kind::remote_store : kind;
  Cell* const cell = memory_map.find(address);
  if (cell == nullptr) return;
  if (address % 8 + bytes > 8) {
    record_range(thread, {address, bytes}, recorded, where);
  } else {
    const Access access{thread.now, recorded, static_cast<std::uint8_t>(bytes_mask(address, bytes)), where};
    Access earlier;
    if (record(*cell, access, thread.knowledge(), earlier)) report(thread, {access, earlier, address, *cell});
  }
  if (is_remote) release_remote_word(thread, address);
}

}  // namespace shmemx::races
