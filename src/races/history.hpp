// What the latest updates have left in a word that PEs wait for, and what had been released by then. A wait proves no
// more than the first value that satisfies it, also where later updates have come before it looks.
//
// Updates that are not seen, such as plain stores of the owner, show when the word does not have the value that the
// latest known one left. What is before them is then forgotten, and waits count as having seen the latest update.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "races/clock.hpp"

namespace shmemx::races {

// Guarded by the lock of its word. Lies at the begin of memory of bytes(capacity), which is zero at first.
class History {
 public:
  static constexpr std::uint32_t kUpdates = 4;
  static constexpr std::size_t bytes(std::uint32_t capacity) noexcept {
    return sizeof(History) + kUpdates * Clock::bytes(capacity);
  }

  struct Update {
    Single by{};  // the thread, and its epoch at the call
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    std::uint32_t bytes = 0;
  };
  struct Clocks {
    std::uint32_t slots;     // in use in the job
    std::uint32_t capacity;  // of each clock
  };
  void add(const Update& update, const Clock& released, const Clocks& clocks) noexcept;
  void forget() noexcept {
    n_updates_ = 0;
    was_forgotten_ = 1;
  }

  // What a wait proves that finds `now` in the word, and whose thread knows `known`.
  enum class Proof { all, nothing, clock };
  struct Found {
    Proof proof;
    const Clock* clock;
  };
  struct Look {
    const Clock& known;
    std::uint64_t now;
    std::uint32_t bytes;
    std::uint32_t capacity;
  };
  template <class Satisfies>
  Found find(const Look& look, const Satisfies& satisfies) noexcept {
    if (n_updates_ == 0 || bytes_ != look.bytes || entry(n_updates_ - 1).after != look.now)
      return {Proof::all, nullptr};
    const std::uint32_t oldest = n_updates_ > kUpdates ? n_updates_ - kUpdates : 0;
    std::uint32_t first = n_updates_;  // the latest one that the thread knows
    for (std::uint32_t i = oldest; i < n_updates_; ++i) {
      if (look.known.knows(entry(i).by.slot, entry(i).by.epoch)) first = i;
    }
    const bool knows_none = first == n_updates_;
    if (knows_none && oldest == 0 && was_forgotten_ == 0 && satisfies(initial_)) return {Proof::nothing, nullptr};
    for (std::uint32_t i = knows_none ? oldest : first; i < n_updates_; ++i) {
      if (satisfies(entry(i).after)) return {Proof::clock, &clock(i, look.capacity)};
    }
    return {Proof::all, nullptr};
  }

 private:
  std::uint32_t n_updates_;  // since it was forgotten
  std::uint32_t was_forgotten_;
  std::uint32_t bytes_;
  std::uint32_t unused_;
  std::uint64_t initial_;  // before the first update, if it was never forgotten
  Update updates_[kUpdates];

  Update& entry(std::uint32_t number) noexcept { return updates_[number % kUpdates]; }
  Clock& clock(std::uint32_t number, std::uint32_t capacity) noexcept {
    return *reinterpret_cast<Clock*>(reinterpret_cast<std::byte*>(this + 1) +
                                     (number % kUpdates) * Clock::bytes(capacity));
  }
};

}  // namespace shmemx::races
