// Clocks of words by which threads or PEs synchronise: atomics, signals, flags, locks, mutexes. A word's clock is what
// its updates have released.
//
// One table is shared by all PEs of the job, for symmetric memory, another one is private. If a table is full, words
// share clocks: then a race may be missed, and none is invented.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "races/clock.hpp"
#include "races/spin_lock.hpp"

namespace shmemx::races {

// What is known of a word's values.
enum class Values : std::uint32_t { none, history, forgotten };

struct SyncWord {
  SpinLock lock;
  Values values;

  Clock& clock() noexcept { return *reinterpret_cast<Clock*>(this + 1); }
};

class SyncTable {
 public:
  static constexpr std::uint32_t kOwnWords = 1 << 16;  // others share clocks
  static std::size_t bytes(std::uint32_t clock_capacity) noexcept;

  // `memory` has bytes(clock_capacity), and is zero or used by another process in the same way.
  void open(std::byte* memory, std::uint32_t clock_capacity) noexcept;
  bool is_open() const noexcept { return memory_ != nullptr; }
  SyncWord& at(std::uint64_t key) noexcept;
  // Below kOwnWords, if the word shares its clock with none.
  std::uint32_t index_of(const SyncWord& word) const noexcept {
    return static_cast<std::uint32_t>(static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&word) - memory_) /
                                      stride_);
  }
  // A hint that at(key) follows.
  void prefetch(std::uint64_t key) const noexcept;
  // Null if nothing has been released there.
  SyncWord* find(std::uint64_t key) noexcept;

 private:
  std::atomic<std::uint64_t>* keys_ = nullptr;  // of the words, which follow
  std::byte* memory_ = nullptr;
  std::size_t stride_ = 0;

  SyncWord& word(std::uint32_t index) const noexcept { return *reinterpret_cast<SyncWord*>(memory_ + index * stride_); }
};

}  // namespace shmemx::races
