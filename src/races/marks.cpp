#include "races/marks.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "races/memory_map.hpp"
#include "races/spin_lock.hpp"

namespace shmemx::races {
namespace {

constexpr std::size_t kPoolBytes = std::size_t{1} << 30;
constexpr std::size_t kMostPools = 4096;

// Memory for chunks.
struct Pools {
  SpinLock lock;
  std::byte* at[kMostPools];
  std::size_t n;
  std::size_t left;  // in the last one
};
constinit Pools pools{};
constinit std::atomic<Mark> n_marks{0};

}  // namespace

Marks marks;

void Marks::open() noexcept { chunks_ = static_cast<std::byte**>(reserve(kChunks * sizeof(std::byte*))); }

namespace {

// Numbers that a thread has taken at once and not used yet.
struct Numbers {
  Mark next = 0;
  std::uint32_t left = 0;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Numbers numbers;

void take_numbers() noexcept {
  constexpr std::uint32_t kCount = 1024;  // divides all there are
  const Mark first = n_marks.fetch_add(kCount, std::memory_order_relaxed) * 2;
  numbers = {first, kCount};
  if (first != 0) return;
  // All numbers have been used, or none: those in memory are forgotten.
  const std::lock_guard guard(pools.lock);
  for (std::size_t i = 0; i < pools.n; ++i) ::madvise(pools.at[i], kPoolBytes, MADV_DONTNEED);
}

}  // namespace

Mark Marks::next() noexcept {
  for (;;) {
    if (numbers.left == 0) take_numbers();
    --numbers.left;
    const Mark mark = numbers.next;
    numbers.next += 2;
    if (mark != 0 && mark != kNoMark) return mark;
  }
}

std::byte* Marks::add(std::uintptr_t chunk) noexcept {
  const std::lock_guard guard(pools.lock);
  if (chunks_[chunk] != nullptr) return chunks_[chunk];
  if (pools.left == 0) {
    if (pools.n == kMostPools) return nullptr;
    pools.at[pools.n++] = static_cast<std::byte*>(reserve(kPoolBytes));
    pools.left = kPoolBytes;
  }
  std::byte* const added = pools.at[pools.n - 1] + (kPoolBytes - pools.left);
  pools.left -= kChunkBytes;
  std::atomic_ref(chunks_[chunk]).store(added, std::memory_order_release);
  return added;
}

void Marks::set(std::uintptr_t address, std::size_t bytes, Mark mark) noexcept {
  const std::uintptr_t number = address >> kChunkBits & (kChunks - 1);
  std::byte* chunk = chunks_[number];
  if (chunk == nullptr) chunk = add(number);
  if (chunk == nullptr) return;
  std::byte* const first = chunk + address % kChunkBytes / 8 * 8;
  const std::uintptr_t begin = address % 8;
  if (begin == 0 && bytes >= kGranule) write(first, mark);
  if (begin <= kGranule && begin + bytes == 8) write(first + kGranule, mark);
}

void Marks::clear(std::uintptr_t begin, std::size_t bytes) noexcept {
  const std::uintptr_t end = begin + bytes;
  for (std::uintptr_t at = begin / kGranule * kGranule; at < end;) {
    const std::uintptr_t next = std::min(end, (at / kChunkBytes + 1) * kChunkBytes);
    std::byte* const chunk = chunks_[at >> kChunkBits & (kChunks - 1)];
    if (chunk != nullptr) clear_private(chunk + at % kChunkBytes, (next - at + kGranule - 1) / kGranule * kGranule);
    at = next;
  }
}

}  // namespace shmemx::races
