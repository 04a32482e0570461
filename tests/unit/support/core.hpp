// The core of a test, and the library's estimate of other programs on that core.
#pragma once

#include <sched.h>

#include "base/clock.hpp"
#include "progress/hints.hpp"

namespace shmemx::unit {

// Keeps the thread on its present CPU.
class OnOneCore {
 public:
  OnOneCore() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(cpu_ = static_cast<unsigned>(::sched_getcpu()), &here);
    ::sched_setaffinity(0, sizeof here, &here);
  }
  ~OnOneCore() { ::sched_setaffinity(0, sizeof before_, &before_); }
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;
  unsigned cpu() const { return cpu_; }

 private:
  cpu_set_t before_;
  unsigned cpu_;
};

// Makes the library ignore other programs of the machine.
class NoOtherPrograms {
 public:
  NoOtherPrograms() {
    progress::hints.cores.forget();
    progress::hints.cores.set_turn_ns(std::uint64_t{1} << 62);
  }
  ~NoOtherPrograms() { progress::hints.cores.set_turn_ns(progress::kDefaultTurnNs); }
  NoOtherPrograms(const NoOtherPrograms&) = delete;
  NoOtherPrograms& operator=(const NoOtherPrograms&) = delete;
};

// Sets the state that follows time slices of another program on this core, for the second that the library keeps it.
class OnBusyCore {
 public:
  OnBusyCore() {
    progress::CoreSharing& cores = progress::hints.cores;
    progress::hints.cores.forget();
    progress::hints.cores.set_turn_ns(progress::kDefaultTurnNs);
    for (std::uint64_t now = now_ns() - 2'000'000'000U; now < now_ns();) {
      while (cores.is_busy(now, core_.cpu())) now += 1'000'000;
      cores.note_switch(3'000'000, now, core_.cpu());
    }
    cores.note_switch(3'000'000, now_ns(), core_.cpu());
  }
  ~OnBusyCore() { progress::hints.cores.forget(); }
  OnBusyCore(const OnBusyCore&) = delete;
  OnBusyCore& operator=(const OnBusyCore&) = delete;

 private:
  OnOneCore core_;
};

}  // namespace shmemx::unit
