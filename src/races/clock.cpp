#include "races/clock.hpp"

#include <algorithm>

namespace shmemx::races {

bool Clock::has_single(Slot slot, Epoch epoch) const noexcept {
  for (std::uint32_t i = 0; i < n_singles_; ++i) {
    if (singles_[i].slot == slot && singles_[i].epoch == epoch) return true;
  }
  return false;
}

bool Clock::has_singles_of(Slot slot) const noexcept {
  return std::any_of(singles_, singles_ + n_singles_, [=](const Single& single) { return single.slot == slot; });
}

// Removes what the prefixes include, and lengthens prefixes by what follows them.
void Clock::drop_known() noexcept {
  for (std::uint32_t i = 0; i < n_singles_;) {
    Epoch& known = epochs()[singles_[i].slot];
    if (singles_[i].epoch > known + 1) {
      ++i;
      continue;
    }
    const bool is_longer = singles_[i].epoch == known + 1;
    known = std::max(known, singles_[i].epoch);
    singles_[i] = singles_[--n_singles_];
    if (is_longer) i = 0;
  }
}

void Clock::add_single(Single single) noexcept {
  if (knows(single.slot, single.epoch)) return;
  if (single.epoch == epochs()[single.slot] + 1) return raise(single.slot, single.epoch);
  if (n_singles_ == kMostSingles) raise(singles_[0].slot, singles_[0].epoch);
  singles_[n_singles_++] = single;
}

void Clock::join(const Clock& other, std::uint32_t slots) noexcept {
  Epoch* const mine = epochs();
  const Epoch* const theirs = other.epochs();
  for (std::uint32_t i = 0; i < slots; ++i) mine[i] = std::max(mine[i], theirs[i]);
  if (n_singles_ != 0) drop_known();
  for (std::uint32_t i = 0; i < other.n_singles_; ++i) add_single(other.singles_[i]);
}

void Clock::assign(const Clock& other, std::uint32_t slots) noexcept {
  n_singles_ = other.n_singles_;
  std::copy_n(other.singles_, n_singles_, singles_);
  std::copy_n(other.epochs(), slots, epochs());
}

}  // namespace shmemx::races
