// Cells of this PE that lie behind slots of its fastboxes. A message that is too long for a slot is written to the cell
// behind it, and the slot says which cell that is: the receiver finds it where it polls, and the cell is free again
// when the slot is. Against the receive queue and the free queue that saves four transfers of a cache line.
//
// Cells are put behind slots by need and stay there. When all that may be are, a slot that has not used its own since
// the last look gives it up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nemesis/cell_credits.hpp"

namespace shmemx::nemesis {

// The name of the cell behind a slot, kept with the slot; 0: none.
using BoxCellName = std::uint8_t;

// A slot of the box to a PE.
struct BoxPlace {
  std::int32_t pe;
  std::uint32_t slot;
};

// One thread at a time.
class BoxCells {
 public:
  void open(CellCredits& credits, std::size_t cell_count) noexcept {
    credits_ = &credits;
    most_ = std::min<std::size_t>(cell_count / 4, 255);  // the queue needs the others
    entries_.reserve(most_);
  }

  // Returns the cell behind a slot that is free; null if there is none and none can be put there. `slots` knows the
  // slots: name(place) is a reference to the name of its cell, is_free(place) whether it has been consumed.
  template <class Slots>
  [[gnu::always_inline]] Cell* behind(BoxPlace place, const Slots& slots) noexcept {
    if (slots.name(place) == 0 && !put_behind(place, slots)) [[unlikely]]
      return nullptr;
    Entry& entry = entries_[slots.name(place) - 1U];
    entry.recent = true;
    return entry.cell;
  }

 private:
  struct Entry {
    Cell* cell;
    BoxPlace place;
    bool recent;
  };
  static constexpr int kLooks = 4;  // at other slots, for one message

  template <class Slots>
  [[gnu::noinline]] bool put_behind(BoxPlace place, const Slots& slots) noexcept {
    if (entries_.size() < most_) {
      Cell* const cell = credits_->try_take(place.pe, CellUse::request);
      if (cell == nullptr) return false;
      entries_.push_back({cell, place, false});
      slots.name(place) = static_cast<BoxCellName>(entries_.size());
      return true;
    }
    for (int looks = entries_.empty() ? 0 : kLooks; looks != 0; --looks) {
      Entry& entry = entries_[next_++ % entries_.size()];
      if (entry.recent || !slots.is_free(entry.place)) {
        entry.recent = false;
      } else {
        if (!credits_->try_move(entry.place.pe, place.pe)) return false;
        std::swap(slots.name(place), slots.name(entry.place));
        entry.place = place;
        return true;
      }
    }
    return false;
  }

  CellCredits* credits_ = nullptr;
  std::size_t most_ = 0;
  std::size_t next_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace shmemx::nemesis
