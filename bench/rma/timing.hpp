// What the two programs of this folder share: the rows' format and how a row is measured.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

namespace bench_rma {

// Between hosts everything takes a hundred times as long, so fewer calls are measured.
inline bool between_hosts = false;
inline void read_arguments(int argc, char** argv) { between_hosts = argc > 1 && std::strcmp(argv[1], "hosts") == 0; }

inline double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::micro>(Clock::now().time_since_epoch()).count();
}

// Microseconds for one call, in the best of several batches: what disturbs a batch only makes it longer.
template <class Call>
double best_of_batches(int calls, Call call) {
  constexpr int kBatches = 30;
  if (between_hosts) calls = std::max(2, calls / 20);
  double best = 1e30;
  for (int batch = 0; batch < kBatches; ++batch) {
    const double started = now();
    for (int i = 0; i < calls; ++i) call();
    best = std::min(best, (now() - started) / calls);
  }
  return best;
}

// Microseconds that 99 of 100 calls take at most, of calls that take turns for some seconds.
constexpr double kBusyMicroseconds = 2e6;
class Percentiles {
 public:
  explicit Percentiles(std::size_t kinds) : samples_(kinds) {}
  template <class Call>
  void measure(std::size_t kind, Call call) {
    const double started = now();
    call();
    samples_[kind].push_back(now() - started);
  }
  double p99(std::size_t kind) {
    std::vector<double>& all = samples_[kind];
    std::sort(all.begin(), all.end());
    return all.empty() ? 0 : all[(all.size() * 99) / 100];
  }

 private:
  std::vector<std::vector<double>> samples_;
};
// What a busy target does meanwhile.
inline void compute() {
  volatile double value = 1;
  for (const double end = now() + kBusyMicroseconds; now() < end;)
    for (int i = 0; i < 1000; ++i) value = value * 1.0000001;
}

inline void print_row(const char* name, double microseconds) { std::printf("%s %.4f\n", name, microseconds); }

}  // namespace bench_rma
