#include "perf/measure.hpp"

#include <shmemx.h>
#include <time.h>

#include <algorithm>
#include <vector>

namespace shmemx::perf {
namespace {

double now_ns() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

Order split(long iterations) {
  const long samples = std::min(iterations, static_cast<long>(kMostSamples));
  return {samples, iterations / samples};
}

}  // namespace

Measurement::Measurement(const Test& test, const Settings& settings, Shared* shared, Work& work)
    : test_(test), settings_(settings), shared_(shared), work_(work) {
  const bool on_window = test.kind == Kind::one_sided && settings.memory == Memory::window;
  loop_ = on_window ? test.other_loop : test.loop;
  work.burst = test.bursts ? settings.burst : 1;
  work.signal = &shared->ping;
  work.rounds = 0;
}

void Measurement::send(Order order) {
  shared_->order = order;
  if (test_.kind == Kind::ping_pong) {
    shmem_putmem_signal(&shared_->received, &order, sizeof order, &shared_->order_number, ++orders_, SHMEM_SIGNAL_SET,
                        work_.peer);
  } else if (test_.kind == Kind::collective) {
    shmem_broadcastmem(SHMEM_TEAM_WORLD, &shared_->received, &shared_->order, sizeof order, 0);
  }
}

Order Measurement::receive() {
  if (test_.kind == Kind::ping_pong) {
    shmem_signal_wait_until(&shared_->order_number, SHMEM_CMP_GE, ++orders_);
  } else {
    shmem_broadcastmem(SHMEM_TEAM_WORLD, &shared_->received, &shared_->order, sizeof(Order), 0);
  }
  return shared_->received;
}

// The time of a collective is that of the slowest PE.
void Measurement::run(Order order, Loop loop) {
  for (long i = 0; i < order.samples; ++i) {
    const double start = now_ns();
    loop(work_, order.iterations);
    shared_->samples[i] = (now_ns() - start) / static_cast<double>(order.iterations);
  }
  if (test_.kind == Kind::collective)
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, shared_->slowest, shared_->samples,
                            static_cast<std::size_t>(order.samples));
}

void Measurement::perform(Order order) {
  send(order);
  run(order, loop_);
}

// More and more iterations, until their time can be read, tell how many fit.
long Measurement::fitting_iterations() {
  constexpr double kPartOfTime = 0.05;
  constexpr long kMost = 1'000'000'000;
  const double all_ns = settings_.seconds * 1e9;
  for (long iterations = 1;; iterations *= 4) {
    perform({1, iterations});
    const double one_ns = std::max(0.1, test_.kind == Kind::collective ? shared_->slowest[0] : shared_->samples[0]);
    if (one_ns * static_cast<double>(iterations) > kPartOfTime * all_ns || iterations > kMost / 4)
      return std::clamp(static_cast<long>(all_ns / one_ns), 1L, kMost);
  }
}

Result Measurement::result_of(Order order) const {
  const double* const times = test_.kind == Kind::collective ? shared_->slowest : shared_->samples;
  std::vector<double> sorted(times, times + order.samples);
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double part) {
    return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1) + 0.5)];
  };
  const double operations = test_.kind == Kind::ping_pong ? 2 : static_cast<double>(work_.burst);
  return {order.samples * order.iterations * static_cast<long>(operations), at(0.5) / operations, at(0) / operations,
          at(0.99) / operations};
}

Result Measurement::lead() {
  if (settings_.warm_up != 0) perform({1, settings_.warm_up});
  const Order order = split(settings_.iterations != 0 ? settings_.iterations : fitting_iterations());
  perform(order);
  const Result result = result_of(order);
  send({0, 0});
  if (settings_.target_computes && test_.kind == Kind::one_sided) {
    shmem_long_atomic_inc(&shared_->finished, work_.peer);
    shmem_quiet();
  }
  return result;
}

void Measurement::follow() {
  for (Order order = receive(); order.samples != 0; order = receive())
    run(order, test_.kind == Kind::ping_pong ? test_.other_loop : loop_);
}

void Measurement::compute(long leaders) const {
  const volatile long* const finished = &shared_->finished;
  volatile long work = 0;
  while (*finished < leaders) work = work + 1;
}

}  // namespace shmemx::perf
