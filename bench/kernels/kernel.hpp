// What the kernels have in common: their main, random numbers, and sums over all PEs.
//   kernel [--scale N] [--repeat N] [--spoil]
// PE 0 prints one CSV line of support/report.hpp: the time of one run in ms. A wrong result ends the job.
// --spoil: PE 0 changes one number of the result, which the verification must find.
#pragma once

#include <getopt.h>
#include <shmem.h>

#include <cstdint>
#include <vector>

#include "../support/clock.hpp"
#include "../support/job.hpp"
#include "../support/report.hpp"
#include "reduce.hpp"

namespace shmemx::bench {

struct KernelOptions {
  long scale = 0;  // what it means is the kernel's; 0: its default
  int repeat = 3;
  bool spoil = false;
};

// After shmem_init.
inline KernelOptions kernel_options(int argc, char** argv) {
  static const option kOptions[] = {
      {"scale", required_argument, nullptr, 's'}, {"repeat", required_argument, nullptr, 'r'},
      {"spoil", no_argument, nullptr, 'x'},       {"cpus", required_argument, nullptr, 'i'},  // of the driver; not used
      {"far", required_argument, nullptr, 'i'},   {nullptr, 0, nullptr, 0}};
  KernelOptions options;
  for (int c; (c = getopt_long(argc, argv, "", kOptions, nullptr)) != -1;) {
    if (c == 's') options.scale = std::atol(optarg);
    if (c == 'r') options.repeat = std::atoi(optarg);
    if (c == 'x') options.spoil = shmem_my_pe() == 0;
    if (c == '?') std::exit(2);
  }
  if (options.repeat < 1) options.repeat = 1;
  return options;
}

// The output function of SplitMix64 (Steele, Lea, Flood): equal arguments give equal numbers on all PEs.
inline std::uint64_t random_at(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}
// In [0, 1).
inline double uniform_at(std::uint64_t index) { return static_cast<double>(random_at(index) >> 11) * 0x1p-53; }

template <class T>
T* allocate(std::size_t count) {
  auto* const memory = static_cast<T*>(shmem_calloc(count != 0 ? count : 1, sizeof(T)));
  if (memory == nullptr) die("the symmetric heap is too small");
  return memory;
}

// Sums over all PEs. All PEs construct one together.
class Sum {
 public:
  Sum() : words_(allocate<double>(2)), longs_(allocate<long>(2)) {}
  Sum(const Sum&) = delete;
  Sum& operator=(const Sum&) = delete;
  ~Sum() {
    shmem_free(longs_);
    shmem_free(words_);
  }
  double of(double mine) {
    words_[0] = mine;
    sum_of_all(words_ + 1, words_, 1);
    return words_[1];
  }
  long of(long mine) {
    longs_[0] = mine;
    sum_of_all(longs_ + 1, longs_, 1);
    return longs_[1];
  }

 private:
  double* words_;
  long* longs_;
};

// A part of `count` things: PE i has [first, first + count).
struct Share {
  long first, count;
};
inline Share share_of(long count, int pe, int pes) {
  const long each = count / pes, rest = count % pes;
  return {pe * each + (pe < rest ? pe : rest), each + (pe < rest ? 1 : 0)};
}
inline int owner_of(long index, long count, int pes) {
  const long each = count / pes, rest = count % pes;
  const long in_long_shares = rest * (each + 1);
  return static_cast<int>(index < in_long_shares ? index / (each + 1) : rest + (index - in_long_shares) / each);
}

// `run` returns whether its result is right.
template <class Run>
void repeat_kernel(const char* name, std::size_t bytes, const KernelOptions& options, const Run& run) {
  std::vector<double> ms;
  for (int i = 0; i < options.repeat; ++i) {
    shmem_barrier_all();
    const std::int64_t begin = now_ns();
    run();
    shmem_barrier_all();
    ms.push_back(static_cast<double>(now_ns() - begin) * 1e-6);
  }
  if (shmem_my_pe() == 0)
    print_result({name, shmem_n_pes(), bytes, "ms", "verified", "", summarize(std::move(ms), false)});
}

// Ends the job unless `right` holds on all PEs.
inline void verify(Sum& sum, bool right, const char* what) {
  if (sum.of(right ? 0L : 1L) == 0) return;
  if (shmem_my_pe() == 0) std::fprintf(stderr, "bench: wrong: %s\n", what);
  shmem_barrier_all();  // the line is out before the job ends
  shmem_global_exit(1);
}

}  // namespace shmemx::bench
