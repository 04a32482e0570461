// Synchronises plain processes: a line that goes to the peer and back, and a counter for any number of processes.
#pragma once

#include <sched.h>

#include <atomic>

#include "work.hpp"

namespace shmemx::bench {

inline void raw_await(const Work& work, const std::atomic<long>& word, long number) {
  while (word.load(std::memory_order_acquire) < number) {  // edge `gate`
    if (work.crowded) sched_yield();
    if (work.method == 1) __builtin_ia32_pause();
  }
}

// Two PEs and one line in PE 1: an odd number goes there, an even one returns.
inline void raw_round_trip(Work& work) {
  std::atomic<long>& line = (work.pe == 0 ? work.peer_shared : work.shared)->gate.sequence;
  work.sequence += 2;
  if (work.pe == 0) {
    line.store(work.sequence - 1, std::memory_order_release);  // edge `gate`
    raw_await(work, line, work.sequence);
  } else {
    raw_await(work, line, work.sequence - 1);
    line.store(work.sequence, std::memory_order_release);  // edge `gate`
  }
}

// Both PEs notify each other at the same time; takes the time of one line one way.
inline void raw_meet(Work& work) {
  ++work.sequence;
  work.peer_shared->gate_release.sequence.store(work.sequence, std::memory_order_release);  // edge `gate`
  raw_await(work, work.shared->gate_release.sequence, work.sequence);
}

// A barrier of any number of PEs: counts arrivals in PE 0, and the last one releases all.
inline void raw_gate(Work& work) {
  Shared* first = work.job->remote(work.shared, 0);
  ++work.sequence;
  if (first->gate.sequence.fetch_add(1) + 1 == work.sequence * work.pes) {
    first->gate_release.sequence.store(work.sequence, std::memory_order_release);  // edge `gate`
  } else {
    raw_await(work, first->gate_release.sequence, work.sequence);
  }
}

}  // namespace shmemx::bench
