// Computing without calls of the library.
#pragma once

namespace pe_test {

// Returns when the word has reached that value.
inline void compute_until(const long& word, long value) {
  volatile double sink = 1;
  while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) < value) {
    for (int i = 0; i < 1000; ++i) sink = sink * 1.0000001 + 1e-9;
  }
}

}  // namespace pe_test
