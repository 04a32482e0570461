// Takes many short samples of one case. PE 0 leads; the others follow its orders.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "clock.hpp"
#include "probe.hpp"
#include "report.hpp"
#include "work.hpp"

namespace shmemx::bench {

struct SampleLimits {
  double budget_ms = 40;
  double far_ns = 90;          // a line takes longer than this one way: far
  double disturbed_ns = 2000;  // another program had the CPU: the sample is dropped
  std::size_t max_samples = 20000;
};

// What a sample measures: the case itself, or the rival that alternates with it.
enum class Side { own, rival };

// How long after the budget to wait for a first undisturbed sample.
constexpr std::int64_t kPatienceNs = 1'000'000'000;

enum class Order : std::int64_t { probe, run, companion, finish, rival };
constexpr int kOrderBits = 3;

class Leader {
 public:
  Leader(Work& work, const Case& what, const SampleLimits& limits) : work_(work), case_(what), limits_(limits) {
    order_ = work_.control(0).order.load(std::memory_order_relaxed);  // PE 0's own copy counts its orders
    probing_ = work_.pes == 2 && !work_.crowded;
    has_rival_ = case_.rival != nullptr && !work_.crowded;  // rivals spin, which takes a core of their own
  }

  // By state, each sample in the unit of the case.
  using Samples = std::map<std::string, std::vector<double>>;

  void run() {
    if (case_.begin != nullptr) case_.begin(work_);
    const std::int64_t end = now_ns() + static_cast<std::int64_t>(limits_.budget_ms * 1e6);
    const std::int64_t late = end + kPatienceNs;
    calibrate(Side::own, end);
    if (has_rival_) calibrate(Side::rival, end + (late - end) / 4);
    std::size_t count = 0;
    do {
      take_sample(Side::own);
      if (has_rival_) take_sample(Side::rival);
    } while (++count < limits_.max_samples && now_ns() < (sides_[0].samples.empty() ? late : end));
    tell(Order::finish, 0);
    if (case_.end != nullptr) case_.end(work_);
    await_followers();
    work_.control(0).order.store(order_, std::memory_order_relaxed);
  }

  // Of a run. Empty for a rival where there is none.
  Samples samples(Side side) const {
    const Taken& taken = sides_[static_cast<int>(side)];
    if (!taken.samples.empty() || taken.disturbed.empty()) return taken.samples;
    return {{"disturbed", taken.disturbed}};  // better than no result; the state tells
  }

 private:
  struct Taken {
    long iterations = 1;  // of one sample
    Samples samples;
    std::vector<double> disturbed;
  };

  void take_sample(Side side) {
    Taken& taken = sides_[static_cast<int>(side)];
    const std::string before = state();
    const double value = in_unit(timed(side), taken.iterations);
    const std::string after = state();
    if (before != after || before == "disturbed") {
      taken.disturbed.push_back(value);
    } else {
      taken.samples[before].push_back(value);
    }
  }

  void tell(Order order, std::int64_t iterations) {
    order_ = ((order_ >> kOrderBits) + 1) << kOrderBits | static_cast<std::int64_t>(order);
    for (int pe = 1; pe < work_.pes; ++pe) {
      Control& there = work_.control(pe);
      there.iterations = iterations;
      there.order.store(order_, std::memory_order_release);  // edge `order`
    }
  }

  std::string state() {
    if (!probing_) return work_.pes == 1 ? "alone" : "shared";
    tell(Order::probe, probe_end(work_));
    const double ns = probe_ns(work_);
    if (ns > limits_.disturbed_ns) return "disturbed";
    return ns > limits_.far_ns ? "far" : "near";
  }

  double timed(Side side) {
    const long iterations = sides_[static_cast<int>(side)].iterations;
    if (side == Side::rival) {
      tell(Order::rival, iterations);
    } else if (case_.role == Role::together) {
      tell(Order::run, iterations);
    } else if (case_.role == Role::against) {
      tell(Order::companion, 0);
      const std::int64_t until = now_ns() + 1000;  // the companion has started by then
      while (now_ns() < until) {
      }
    }
    const std::int64_t begin = now_ns();
    (side == Side::rival ? case_.rival : case_.kernel)(work_, iterations);
    const double ns = static_cast<double>(now_ns() - begin);
    if (side == Side::rival || case_.role == Role::together) await_followers();
    return ns;
  }

  // Waits for the followers: in a kernel such as a broadcast PE 0 runs ahead, but no order may overtake a run or the
  // end of a case.
  void await_followers() {
    Control& control = work_.control(0);
    work_.runs_done += work_.pes - 1;
    while (control.done.load(std::memory_order_acquire) < work_.runs_done)  // edge `done`
      if (work_.crowded) sched_yield();
  }

  // Finds how many iterations make a sample long enough for the clock, or for the scheduler where PEs share cores. A
  // long one has to repeat: the first iterations touch pages for the first time.
  void calibrate(Side side, std::int64_t end) {
    const double target_ns = std::max(case_.sample_ns, work_.crowded ? 2e6 : 3e4);
    long& iterations = sides_[static_cast<int>(side)].iterations;
    for (int long_ones = 0; long_ones < 2 && now_ns() < end;) {
      const double ns = timed(side);
      long_ones = ns >= target_ns ? long_ones + 1 : 0;
      if (long_ones != 0) continue;
      const double factor = ns > 0 ? std::min(8.0, std::max(1.5, target_ns / ns)) : 8.0;
      iterations = static_cast<long>(static_cast<double>(iterations) * factor) + 1;
    }
  }

  double in_unit(double ns, long iterations) const {
    const double operations = static_cast<double>(iterations) * case_.operations(work_);
    switch (case_.unit) {
      case Unit::ns:
        return ns / operations;
      case Unit::us:
        return ns / operations / 1000;
      case Unit::gb_per_s:
        return operations * static_cast<double>(case_.bytes) / ns;
      case Unit::mops_per_s:
        return operations * 1000 / ns;
    }
    return 0;
  }

  Work& work_;
  const Case& case_;
  SampleLimits limits_;
  std::int64_t order_ = 0;
  bool probing_ = false;
  bool has_rival_ = false;
  Taken sides_[2];  // by Side
};

inline void report_done(Work& work) {
  work.control(0).done.fetch_add(1, std::memory_order_release);  // edge `done`
}

inline void follow(Work& work, const Case& what) {
  Control& control = work.control(work.pe);
  std::int64_t& seen = work.last_order;
  if (what.begin != nullptr) what.begin(work);
  for (;;) {
    const std::int64_t order = control.order.load(std::memory_order_acquire);  // edge `order`
    if (order == seen) {
      if (work.crowded) sched_yield();
      continue;
    }
    seen = order;
    switch (static_cast<Order>(order & ((1 << kOrderBits) - 1))) {
      case Order::probe:
        answer_probe(work);
        break;
      case Order::run:
        what.kernel(work, control.iterations);
        report_done(work);
        break;
      case Order::rival:
        what.rival(work, control.iterations);
        report_done(work);
        break;
      case Order::companion:
        while (control.order.load(std::memory_order_acquire) == order) what.companion(work);
        break;
      case Order::finish:
        if (what.end != nullptr) what.end(work);
        report_done(work);
        return;
    }
  }
}

}  // namespace shmemx::bench
