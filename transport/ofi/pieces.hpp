// Which part of a receive buffer for many packets has been filled. A provider cuts the buffer into pieces, one behind
// the other, as packets begin to arrive. Those of different peers end in any order. The tcp of libfabric 1.17
// releases the buffer with the last piece that it makes of it, even while it still writes to others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace shmemx::ofi {

class Pieces {
 public:
  // `least`: of the room that a provider needs to make one more piece.
  Pieces(std::size_t bytes, std::size_t least) noexcept : bytes_(bytes), least_(least) {}

  // Notes that a packet is here, whole.
  void add(std::size_t begin, std::size_t bytes) {
    beyond_.push_back({begin, begin + bytes});
    const auto joins = [this](const Range& piece) { return piece.begin < filled_ + kShortest; };
    while (true) {
      const auto next = std::find_if(beyond_.begin(), beyond_.end(), joins);
      if (next == beyond_.end()) return;
      filled_ = std::max(filled_, next->end);
      *next = beyond_.back();
      beyond_.pop_back();
    }
  }
  // Notes that the provider makes no more pieces.
  void release() noexcept { is_released_ = true; }
  bool is_released() const noexcept { return is_released_; }
  // Notes that a packet has failed. Providers do not say where it was to be.
  void fail() noexcept { has_failed_ = true; }
  // Returns whether the provider writes nothing more.
  bool is_whole() const noexcept { return is_released_ && beyond_.empty() && filled_ + least_ > bytes_; }
  // Returns whether nobody can say when that will be: a packet has failed, and others may be on their way.
  bool is_lost() const noexcept { return is_released_ && has_failed_ && !is_whole(); }
  // The buffer is used once more.
  void reset() noexcept {
    filled_ = 0;
    beyond_.clear();
    is_released_ = has_failed_ = false;
  }

 private:
  // Less than any packet. A gap of less is what a provider leaves to align the next piece.
  static constexpr std::size_t kShortest = 48;
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  std::size_t bytes_;
  std::size_t least_;
  std::size_t filled_ = 0;     // all in front of it is here
  std::vector<Range> beyond_;  // what is here behind a gap
  bool is_released_ = false;
  bool has_failed_ = false;
};

}  // namespace shmemx::ofi
