// One test of one size: a leader decides how often its loop runs, and takes the time; followers do as it says.
#pragma once

#include <cstddef>
#include <cstdint>

#include "perf/settings.hpp"
#include "perf/work.hpp"

namespace shmemx::perf {

// How often the loop runs: `samples` times, each with this number of iterations. No sample: the end.
struct Order {
  long samples;
  long iterations;
};

inline constexpr std::size_t kMostSamples = 50;

// What a leader and its followers share; symmetric.
struct Shared {
  Order order;
  Order received;  // of a collective
  std::uint64_t order_number;
  std::uint64_t ping;
  long finished;  // leaders that access this PE's memory and have ended
  double samples[kMostSamples];
  double slowest[kMostSamples];
};

struct Result {
  long operations = 0;
  double median_ns = 0;  // of an operation
  double least_ns = 0;
  double p99_ns = 0;
};

class Measurement {
 public:
  Measurement(const Test& test, const Settings& settings, Shared* shared, Work& work);

  // Of the PE that starts one-sided operations or the ping-pong, and of PE 0 in a collective.
  Result lead();
  // Of the other PE of a ping-pong, and of the other PEs in a collective.
  void follow();
  // Computes, without a call of the library, until `leaders` of them have accessed this PE's memory.
  void compute(long leaders) const;

 private:
  void send(Order order);
  Order receive();
  void run(Order order, Loop loop);
  void perform(Order order);
  long fitting_iterations();
  Result result_of(Order order) const;

  const Test& test_;
  const Settings& settings_;
  Shared* shared_;
  Work& work_;
  Loop loop_;
  std::uint64_t orders_ = 0;
};

}  // namespace shmemx::perf
