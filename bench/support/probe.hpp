// How far apart are the caches of PE 0 and PE 1 just now? A virtual machine's CPUs are moved by their host, so the
// answer changes within seconds; each sample stands between two probes and is kept only where both agree.
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
  std::int64_t trip = here.pong.load(std::memory_order_relaxed);  // own word, the peer is idle
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
  std::int64_t trip = last - kProbeBatches * kProbeTrips;  // not what `ping` says: the first one may be here already
  while (trip < last) {
    const std::int64_t next = here.ping.load(std::memory_order_acquire);
    if (next == trip) continue;
    trip = next;
    there.pong.store(trip, std::memory_order_release);
  }
}

// The number at which the next probe will end.
inline std::int64_t probe_end(const Work& work) {
  return work.control(work.pe).pong.load(std::memory_order_relaxed) + kProbeBatches * kProbeTrips;
}

}  // namespace shmemx::bench
