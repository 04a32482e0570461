// Measures how far apart the caches of PE 0 and PE 1 are at the moment. The host of a virtual machine moves its CPUs,
// so the result changes within seconds. A sample is kept only if the probes before and after it agree.
#pragma once

#include <algorithm>
#include <limits>

#include "clock.hpp"
#include "work.hpp"

namespace shmemx::bench {

constexpr int kProbeBatches = 3;
constexpr int kProbeTrips = 8;

// Edge `probe`: ping.store(release) -> ping.load(acquire) and back by pong; nothing but the numbers travels.
// Called by PE 0; the peer runs answer_probe at the same time. Returns the one-way time of a line in ns.
inline double probe_ns(Work& work) {
  Control& there = work.control(work.peer);
  Control& here = work.control(work.pe);
  std::int64_t trip = here.pong.load(std::memory_order_relaxed);  // own word; the peer is idle
  double best = std::numeric_limits<double>::max();
  for (int batch = 0; batch < kProbeBatches; ++batch) {
    const std::int64_t begin = now_ns();
    for (int i = 0; i < kProbeTrips; ++i) {
      there.ping.store(++trip, std::memory_order_release);
      while (here.pong.load(std::memory_order_acquire) != trip) {
      }
    }
    best = std::min(best, static_cast<double>(now_ns() - begin) / (2.0 * kProbeTrips));
  }
  return best;
}

inline void answer_probe(Work& work) {
  Control& here = work.control(work.pe);
  Control& there = work.control(work.peer);
  const std::int64_t last = here.iterations;
  std::int64_t trip = last - kProbeBatches * kProbeTrips;  // not the value of `ping`, which may already be newer
  while (trip < last) {
    const std::int64_t next = here.ping.load(std::memory_order_acquire);
    if (next == trip) continue;
    trip = next;
    there.pong.store(trip, std::memory_order_release);
  }
}

// Returns the number at which the next probe ends.
inline std::int64_t probe_end(const Work& work) {
  return work.control(work.pe).pong.load(std::memory_order_relaxed) + kProbeBatches * kProbeTrips;
}

}  // namespace shmemx::bench
