// Which frames of one peer are here, by their serials, so that a frame that arrives again changes nothing, whoever has
// sent it. As the window of IPsec (RFC 6479): a ring of bits, of which words are cleared as the highest serial grows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace shmemx::ethernet {

class ReplayWindow {
 public:
  enum class Verdict : std::uint8_t {
    newest,    // sent later than all that were here before
    late,      // overtaken by later ones
    repeated,  // was here before, or is too old to tell
  };

  // Notes a frame. Serials begin with 1.
  Verdict admit(std::uint64_t serial) noexcept {
    const std::uint64_t word = serial / kWordBits;
    const std::uint64_t bit = std::uint64_t{1} << (serial % kWordBits);
    if (serial > highest_) {
      const std::uint64_t last = highest_ / kWordBits;
      const std::uint64_t n = std::min<std::uint64_t>(word - last, kWords);
      for (std::uint64_t i = 1; i <= n; ++i) words_[(last + i) % kWords] = 0;
      highest_ = serial;
      words_[word % kWords] |= bit;
      return Verdict::newest;
    }
    if (highest_ - serial >= kTolerance || (words_[word % kWords] & bit) != 0) return Verdict::repeated;
    words_[word % kWords] |= bit;
    return Verdict::late;
  }

  // A frame counts as repeated if its serial is lower than the highest one by this number.
  static constexpr std::uint64_t kTolerance = 127 * 64;

 private:
  static constexpr std::uint64_t kWordBits = 64;
  static constexpr std::uint64_t kWords = 128;
  static_assert(kTolerance == (kWords - 1) * kWordBits);

  std::uint64_t highest_ = 0;
  std::array<std::uint64_t, kWords> words_{1};
};

}  // namespace shmemx::ethernet
