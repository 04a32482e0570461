#include "races/sync_table.hpp"

namespace shmemx::races {
namespace {

constexpr std::uint32_t kWords = 1 << 16;
constexpr std::uint32_t kSharedWords = 1 << 10;  // behind the others
constexpr std::uint32_t kMostProbes = 16;

std::uint32_t hash_of(std::uint64_t key) noexcept {
  return static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15U) >> 40);
}

}  // namespace

std::size_t SyncTable::bytes(std::uint32_t clock_capacity) noexcept {
  return (kWords + kSharedWords) * (sizeof(SyncWord) + Clock::bytes(clock_capacity));
}

void SyncTable::open(std::byte* memory, std::uint32_t clock_capacity) noexcept {
  memory_ = memory;
  stride_ = sizeof(SyncWord) + Clock::bytes(clock_capacity);
}

SyncWord& SyncTable::at(std::uint64_t key) noexcept {
  const std::uint32_t hash = hash_of(key);
  for (std::uint32_t i = 0; i < kMostProbes; ++i) {
    SyncWord& candidate = word((hash + i) % kWords);
    std::uint64_t found = candidate.key.load(std::memory_order_relaxed);  // the lock orders what is in it
    if (found == 0 && candidate.key.compare_exchange_strong(found, key, std::memory_order_relaxed)) return candidate;
    if (found == key) return candidate;
  }
  return word(kWords + hash % kSharedWords);
}

SyncWord* SyncTable::find(std::uint64_t key) noexcept {
  const std::uint32_t hash = hash_of(key);
  for (std::uint32_t i = 0; i < kMostProbes; ++i) {
    SyncWord& candidate = word((hash + i) % kWords);
    const std::uint64_t found = candidate.key.load(std::memory_order_relaxed);
    if (found == key) return &candidate;
    if (found == 0) return nullptr;
  }
  return &word(kWords + hash % kSharedWords);
}

}  // namespace shmemx::races
