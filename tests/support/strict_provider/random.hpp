// A sequence of numbers that depends on the seed only.
#pragma once

#include <cstdint>

namespace strict_provider {

inline std::uint64_t mix(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t next() noexcept { return mix(state_ += 0x9e3779b97f4a7c15U); }
  std::uint64_t below(std::uint64_t limit) noexcept { return next() % limit; }

 private:
  std::uint64_t state_;
};

// Returns a number that no other process has. It does not depend on the seed.
std::uint64_t unique_number() noexcept;

}  // namespace strict_provider
