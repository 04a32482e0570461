// Bytes to transfer in tests: they depend on a seed and on their index, also across pages and powers of two.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

namespace test_support {

constexpr unsigned char pattern_byte(std::size_t seed, std::size_t i) {
  return static_cast<unsigned char>(seed * 31 + i * 7 + i / 251 + (i >> 16) * 3 + 1);
}

// Between two changes of the other terms the bytes rise by 7: 7 * j, 7 * (j + 1), ...
inline constexpr std::size_t kPatternRun = 251;
inline constexpr auto kPatternRamp = [] {
  std::array<unsigned char, 256 + kPatternRun> ramp{};
  for (std::size_t j = 0; j < ramp.size(); ++j) ramp[j] = static_cast<unsigned char>(7 * j);
  return ramp;
}();

// Calls use(where, expected, count) for pieces of the pattern from index `first` on, until it returns false. Returns
// whether it never did.
template <class Use>
bool for_each_run(std::size_t bytes, std::size_t seed, std::size_t first, Use use) {
  constexpr unsigned kInverseOf7 = 183;  // modulo 256
  constexpr std::size_t k64 = std::size_t{1} << 16;
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t i = first + done;
    const std::size_t count = std::min({bytes - done, kPatternRun - i % kPatternRun, k64 - i % k64});
    if (!use(done, kPatternRamp.data() + pattern_byte(seed, i) * kInverseOf7 % 256, count)) return false;
    done += count;
  }
  return true;
}

template <class Byte>
void fill_pattern(Byte* data, std::size_t bytes, std::size_t seed) {
  for_each_run(bytes, seed, 0, [data](std::size_t at, const unsigned char* expected, std::size_t count) {
    std::memcpy(data + at, expected, count);
    return true;
  });
}

// Returns whether all bytes equal those of the pattern from index `first` on.
template <class Byte>
bool has_pattern(const Byte* data, std::size_t bytes, std::size_t seed, std::size_t first = 0) {
  return for_each_run(bytes, seed, first, [data](std::size_t at, const unsigned char* expected, std::size_t count) {
    return std::memcmp(data + at, expected, count) == 0;
  });
}

template <class Byte = unsigned char>
std::vector<Byte> pattern(std::size_t bytes, std::size_t seed) {
  std::vector<Byte> data(bytes);
  fill_pattern(data.data(), bytes, seed);
  return data;
}

}  // namespace test_support
