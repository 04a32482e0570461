// What the two programs of this folder share: the rows' format and how a row is measured.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace bench_rma {

inline double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::micro>(Clock::now().time_since_epoch()).count();
}

// Microseconds for one call, in the best of several batches: what disturbs a batch only makes it longer.
template <class Call>
double best_of_batches(int calls, Call call) {
  constexpr int kBatches = 30;
  double best = 1e30;
  for (int batch = 0; batch < kBatches; ++batch) {
    const double started = now();
    for (int i = 0; i < calls; ++i) call();
    best = std::min(best, (now() - started) / calls);
  }
  return best;
}

inline void print_row(const char* name, double microseconds) { std::printf("%s %.4f\n", name, microseconds); }

}  // namespace bench_rma
