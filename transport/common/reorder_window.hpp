// Puts the numbered messages of one peer into the order of sending. Messages that arrive too early wait here.
// Duplicates, and numbers too far ahead, are recognised before anything is stored.
#pragma once

#include <cstdint>
#include <deque>
#include <iterator>
#include <utility>

namespace shmemx::transport {

enum class Turn : std::uint8_t {
  next,       // all messages before it have been taken
  early,      // to be held until its turn
  duplicate,  // taken or held already
  too_far,    // further ahead than the window reaches
};

template <class Item>
class ReorderWindow {
 public:
  // `first` is the number of the first message.
  explicit ReorderWindow(std::uint64_t most_ahead, std::uint64_t first = 0) noexcept
      : expected_(first), most_ahead_(most_ahead) {}

  // The number of the next message. All smaller ones have been taken, so this is also what to acknowledge.
  std::uint64_t expected() const noexcept { return expected_; }
  bool holds_any() const noexcept { return !held_.empty(); }

  Turn turn_of(std::uint64_t number) const noexcept {
    if (number == expected_) return Turn::next;
    if (number < expected_) return Turn::duplicate;
    if (number - expected_ > most_ahead_) return Turn::too_far;
    for (const Held& held : held_) {
      if (held.number == number) return Turn::duplicate;
    }
    return Turn::early;
  }

  // Notes that the message whose turn it was has been taken.
  void take_next() noexcept { ++expected_; }

  // Keeps a message whose turn is `early`.
  void hold(std::uint64_t number, Item item) {
    auto at = held_.end();
    while (at != held_.begin() && std::prev(at)->number > number) --at;
    held_.insert(at, Held{number, std::move(item)});
  }

  // Returns true if a held message has its turn now; moves it to `item` and notes that it has been taken.
  bool pop_next(Item& item) {
    if (held_.empty() || held_.front().number != expected_) return false;
    item = std::move(held_.front().item);
    held_.pop_front();
    ++expected_;
    return true;
  }

  // Forgets all held messages, each after a call of `drop(item)`.
  template <class Drop>
  void clear(Drop drop) {
    for (Held& held : held_) drop(held.item);
    held_.clear();
  }

 private:
  struct Held {
    std::uint64_t number;
    Item item;
  };

  std::uint64_t expected_;
  std::uint64_t most_ahead_;
  std::deque<Held> held_;  // in the order of numbers
};

}  // namespace shmemx::transport
