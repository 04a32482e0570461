// What transfers have taken, by size and LMT: which of two LMTs is faster depends on the machine, on whether the two
// cores share a cache, and on whether the program writes its buffers between two messages. So the receiver measures,
// from the match to the last byte, and chooses by that.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "pt2pt/wire.hpp"

namespace shmemx::pt2pt {

class Measured {
 public:
  // Chooses between two LMTs for a message of `bytes`. `usual` is the better guess where nothing is known. Each is
  // tried some times, then the slower one once in a while: the more rarely the slower it is, so that these looks take
  // less than a hundredth of the time.
  LmtKind choose(std::size_t bytes, LmtKind usual, LmtKind other) noexcept {
    Size& size = of(bytes);
    const Estimate& first = size.of(usual);
    const Estimate& second = size.of(other);
    if (first.samples < kFirstSamples) return usual;
    if (second.samples < kFirstSamples) return other;
    const bool is_usual_faster = first.ns_per_byte <= second.ns_per_byte;
    const auto [faster, slower] = std::minmax(first.ns_per_byte, second.ns_per_byte);
    const bool looks_again = ++size.choices * faster >= kLookAgain * slower;
    if (looks_again) size.choices = 0;
    return is_usual_faster != looks_again ? usual : other;
  }

  // Returns true if the message that choose() was last called for is to be timed: each one at first and each look
  // at the slower LMT, of the others some, since a clock costs a part of a short message.
  bool wants_time(std::size_t bytes) noexcept { return of(bytes).choices % kTimed == 0; }

  // Notes that a message has taken so long. Of the first samples the shortest counts; each later one moves the
  // estimate, one that was interrupted only a little.
  void note(std::size_t bytes, LmtKind kind, std::uint64_t ns) noexcept {
    Estimate& estimate = of(bytes).of(kind);
    const double now = static_cast<double>(ns) / static_cast<double>(bytes);
    if (estimate.samples == 0) estimate.ns_per_byte = now;
    if (estimate.samples < kFirstSamples) {
      ++estimate.samples;
      estimate.ns_per_byte = std::min(estimate.ns_per_byte, now);
    } else {
      estimate.ns_per_byte += (std::min(now, 2 * estimate.ns_per_byte) - estimate.ns_per_byte) / kWeight;
    }
  }

 private:
  struct Estimate {
    double ns_per_byte = 0;
    std::uint32_t samples = 0;  // at most kFirstSamples
  };
  struct Size {
    Estimate kinds[kLmtKinds];
    std::uint32_t choices = 0;  // since the last look at the slower one

    Estimate& of(LmtKind kind) noexcept { return kinds[static_cast<std::uint32_t>(kind)]; }
  };
  static constexpr std::uint32_t kFirstSamples = 4;
  static constexpr std::uint32_t kLookAgain = 128;
  static constexpr std::uint32_t kTimed = 4;
  static constexpr double kWeight = 8;
  // Sizes between two powers of two share their estimates.
  static constexpr int kSizes = 16;
  static constexpr int kFirstWidth = 13;  // 4 KiB and less

  Size& of(std::size_t bytes) noexcept {
    return sizes_[std::clamp(static_cast<int>(std::bit_width(bytes)) - kFirstWidth, 0, kSizes - 1)];
  }

  Size sizes_[kSizes];
};

}  // namespace shmemx::pt2pt
