// The content of messages in tests: a pattern that depends on the source and the tag.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../support/pattern.hpp"

namespace pe_test {

inline std::size_t seed_of(int source, int tag) { return static_cast<std::size_t>(source * 89 + tag); }
inline std::uint8_t pattern(int source, int tag, std::size_t i) {
  return test_support::pattern_byte(seed_of(source, tag), i);
}
inline void fill(std::uint8_t* to, std::size_t bytes, int source, int tag) {
  test_support::fill_pattern(to, bytes, seed_of(source, tag));
}
inline bool holds(const std::uint8_t* from, std::size_t bytes, int source, int tag) {
  return test_support::has_pattern(from, bytes, seed_of(source, tag));
}

}  // namespace pe_test
