#include "races/sync_table.hpp"

namespace shmemx::races {
namespace {

constexpr std::uint32_t kWords = SyncTable::kOwnWords;
constexpr std::uint32_t kSharedWords = 1 << 12;  // behind the others
constexpr std::uint32_t kMostProbes = 8;

std::uint32_t hash_of(std::uint64_t key) noexcept {
  return static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15U) >> 40);
}

}  // namespace

std::size_t SyncTable::bytes(std::uint32_t clock_capacity) noexcept {
  return kWords * sizeof(std::uint64_t) + (kWords + kSharedWords) * (sizeof(SyncWord) + Clock::bytes(clock_capacity));
}

void SyncTable::open(std::byte* memory, std::uint32_t clock_capacity) noexcept {
  keys_ = reinterpret_cast<std::atomic<std::uint64_t>*>(memory);
  memory_ = memory + kWords * sizeof(std::uint64_t);
  stride_ = sizeof(SyncWord) + Clock::bytes(clock_capacity);
}

SyncWord& SyncTable::at(std::uint64_t key) noexcept {
  const std::uint32_t hash = hash_of(key);
  for (std::uint32_t i = 0; i < kMostProbes; ++i) {
    const std::uint32_t index = (hash + i) % kWords;
    std::uint64_t found = keys_[index].load(std::memory_order_relaxed);  // the word's lock orders what is in it
    if (found == 0 && keys_[index].compare_exchange_strong(found, key, std::memory_order_relaxed)) return word(index);
    if (found == key) return word(index);
  }
  return word(kWords + hash % kSharedWords);
}

void SyncTable::prefetch(std::uint64_t key) const noexcept {
  const std::uint32_t hash = hash_of(key);
  __builtin_prefetch(&keys_[hash % kWords]);
  __builtin_prefetch(&keys_[(hash + kMostProbes - 1) % kWords]);
  // Its clock, if the table is full.
  const auto* const shared = reinterpret_cast<const std::byte*>(&word(kWords + hash % kSharedWords));
  for (std::size_t line = 0; line < 4; ++line) __builtin_prefetch(shared + line * 64, 1);
}

SyncWord* SyncTable::find(std::uint64_t key) noexcept {
  const std::uint32_t hash = hash_of(key);
  for (std::uint32_t i = 0; i < kMostProbes; ++i) {
    const std::uint32_t index = (hash + i) % kWords;
    const std::uint64_t found = keys_[index].load(std::memory_order_relaxed);
    if (found == key) return &word(index);
    if (found == 0) return nullptr;
  }
  return &word(kWords + hash % kSharedWords);
}

}  // namespace shmemx::races
