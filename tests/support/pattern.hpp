// Bytes to transfer in tests: they depend on a seed and on their index, also across pages and powers of two.
#pragma once

#include <cstddef>
#include <vector>

namespace test_support {

constexpr unsigned char pattern_byte(std::size_t seed, std::size_t i) {
  return static_cast<unsigned char>(seed * 31 + i * 7 + i / 251 + (i >> 16) * 3 + 1);
}

template <class Byte>
void fill_pattern(Byte* data, std::size_t bytes, std::size_t seed) {
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<Byte>(pattern_byte(seed, i));
}

// Returns whether all bytes equal those of the pattern from index `first` on.
template <class Byte>
bool has_pattern(const Byte* data, std::size_t bytes, std::size_t seed, std::size_t first = 0) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (data[i] != static_cast<Byte>(pattern_byte(seed, first + i))) return false;
  }
  return true;
}

template <class Byte = unsigned char>
std::vector<Byte> pattern(std::size_t bytes, std::size_t seed) {
  std::vector<Byte> data(bytes);
  fill_pattern(data.data(), bytes, seed);
  return data;
}

}  // namespace test_support
