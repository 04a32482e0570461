// Pseudo-random numbers, the same in each run.
#pragma once

#include <cstdint>

namespace pe_test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  template <class Integer>
  Integer below(Integer limit) {
    return static_cast<Integer>(next() % static_cast<std::uint64_t>(limit));
  }

 private:
  std::uint64_t state_;
};

}  // namespace pe_test
