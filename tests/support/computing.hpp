// A program that calls nothing of the library.
#pragma once

namespace pe_test {

// Until somebody has set the word to that value or a larger one.
inline void compute_until(const long& word, long value) {
  volatile double sink = 1;
  while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) < value) {
    for (int i = 0; i < 1000; ++i) sink = sink * 1.0000001 + 1e-9;
  }
}

}  // namespace pe_test
