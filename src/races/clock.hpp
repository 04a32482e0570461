// Vector clocks. A component (Slot) counts the epochs of a thread, or of deliveries: what one PE has put to another one
// on a context reaches memory in an order of its own, so it has components apart from the threads'.
//
// A clock knows of each slot the epochs 1..k, and a few single epochs beyond: a signal proves that its own data have
// been delivered, and not what was put before. If too many single ones gather, one becomes a prefix: then a race
// may be missed, and none is invented.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shmemx::races {

using Slot = std::uint16_t;
using Epoch = std::uint32_t;

inline constexpr Slot kNoSlot = 0;  // never given out
inline constexpr std::uint32_t kMostSlots = 2048;

struct Single {
  Epoch epoch;
  Slot slot;
};

// Lies at the begin of memory of bytes(capacity), which is zero at first. Not synchronised.
class Clock {
 public:
  static constexpr std::size_t bytes(std::uint32_t capacity) noexcept {
    return sizeof(Clock) + capacity * sizeof(Epoch);
  }

  Epoch prefix(Slot slot) const noexcept { return epochs()[slot]; }
  bool knows(Slot slot, Epoch epoch) const noexcept {
    return epoch <= epochs()[slot] || (n_singles_ != 0 && has_single(slot, epoch));
  }
  bool knows_prefix(Slot slot, Epoch epoch) const noexcept { return epoch <= epochs()[slot]; }
  bool has_singles_of(Slot slot) const noexcept;
  void raise(Slot slot, Epoch epoch) noexcept {
    if (epochs()[slot] >= epoch) return;
    epochs()[slot] = epoch;
    if (n_singles_ != 0) drop_known();
  }
  Epoch advance(Slot slot) noexcept { return ++epochs()[slot]; }
  void add_single(Single single) noexcept;
  // `slots`: how many are in use in the job.
  void join(const Clock& other, std::uint32_t slots) noexcept;
  void assign(const Clock& other, std::uint32_t slots) noexcept;

 private:
  static constexpr std::uint32_t kMostSingles = 15;

  std::uint32_t n_singles_;
  std::uint32_t unused_;
  Single singles_[kMostSingles];

  Epoch* epochs() noexcept { return reinterpret_cast<Epoch*>(this + 1); }
  const Epoch* epochs() const noexcept { return reinterpret_cast<const Epoch*>(this + 1); }
  bool has_single(Slot slot, Epoch epoch) const noexcept;
  void drop_known() noexcept;
};

}  // namespace shmemx::races
