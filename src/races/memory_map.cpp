#include "races/memory_map.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "base/cache_line.hpp"
#include "races/job.hpp"
#include "races/marks.hpp"

namespace shmemx::races {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << MemoryMap::kChunkBits;
constexpr std::size_t kChunkCells = kChunkBytes / 8;
constexpr std::size_t kReservedChunks = 1024;
constexpr std::size_t kMapFrom = std::size_t{64} << 10;  // from here on pages are given back instead of cleared

// Cells of a chunk of private memory.
Cell* private_cells() noexcept {
  static std::atomic<std::size_t> n_used{kReservedChunks};
  static std::atomic<Cell*> reserved{nullptr};
  static SpinLock lock;
  lock.lock();
  std::size_t used = n_used.load(std::memory_order_relaxed);  // the lock orders it
  if (used == kReservedChunks) {
    reserved.store(static_cast<Cell*>(reserve(kReservedChunks * kChunkCells * sizeof(Cell))),
                   std::memory_order_relaxed);
    used = 0;
  }
  Cell* const cells = reserved.load(std::memory_order_relaxed) + used * kChunkCells;
  n_used.store(used + 1, std::memory_order_relaxed);
  lock.unlock();
  return cells;
}

}  // namespace

void* reserve(std::size_t bytes) noexcept {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) std::abort();
  ::madvise(at, bytes, MADV_DONTDUMP);
  ::madvise(at, bytes, MADV_NOHUGEPAGE);  // cells are touched here and there
  return at;
}

void clear_private(std::byte* begin, std::size_t bytes) noexcept {
  std::byte* const end = begin + bytes;
  if (bytes < kMapFrom) {
    std::memset(begin, 0, bytes);
    return;
  }
  auto* const inner = reinterpret_cast<std::byte*>(round_up(reinterpret_cast<std::uintptr_t>(begin), kPageBytes));
  auto* const inner_end = reinterpret_cast<std::byte*>(round_down(reinterpret_cast<std::uintptr_t>(end), kPageBytes));
  std::memset(begin, 0, static_cast<std::size_t>(inner - begin));
  ::madvise(inner, static_cast<std::size_t>(inner_end - inner), MADV_DONTNEED);
  std::memset(inner_end, 0, static_cast<std::size_t>(end - inner_end));
}

MemoryMap memory_map;

void MemoryMap::open() noexcept { chunks_ = static_cast<Cell**>(reserve(kChunks * sizeof(Cell*))); }

void MemoryMap::forget() noexcept { ::madvise(chunks_, kChunks * sizeof(Cell*), MADV_DONTNEED); }

// The chunk may hold the begin or the end of symmetric memory, never parts of two.
Cell* MemoryMap::add(std::uintptr_t chunk) noexcept {
  const std::uintptr_t begin = chunk * kChunkBytes;
  Cell* cells = nullptr;
  Symmetric place;
  for (std::uintptr_t page = begin; job.is_open() && page < begin + kChunkBytes; page += kPageBytes) {
    if (!job.locate(page, place)) continue;
    cells = job.cell(place) - (page - begin) / 8;
    break;
  }
  if (cells == nullptr) cells = private_cells();
  Cell* expected = nullptr;
  std::atomic_ref(chunks_[chunk]).compare_exchange_strong(expected, cells, std::memory_order_acq_rel);
  return chunks_[chunk];
}

void MemoryMap::clear(std::uintptr_t begin, std::size_t bytes) noexcept {
  marks.clear(begin, bytes);
  const std::uintptr_t end = begin + bytes;
  for (std::uintptr_t at = begin; at < end;) {
    const std::uintptr_t next = std::min(end, round_down(at, kChunkBytes) + kChunkBytes);
    const std::uintptr_t chunk = at / kChunkBytes;
    if (chunk < kChunks && chunks_[chunk] != nullptr) {
      Cell* const first = find(at);
      const std::size_t cleared = ((next - 1) / 8 - at / 8 + 1) * sizeof(Cell);
      clear_private(reinterpret_cast<std::byte*>(first), cleared);
    }
    at = next;
  }
}

}  // namespace shmemx::races
