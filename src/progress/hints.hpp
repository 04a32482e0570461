// What the threads of this process tell each other about how they wait, and which cores others need. All of it may be
// out of date when it is read: then a thread polls or sleeps one step too many, and every step is bounded.
//
// Edges (docs/memory-order.md): mark, hand_over, seat, long_wait.
#pragma once

#include <atomic>
#include <cstdint>

#include "progress/core_sharing.hpp"

namespace shmemx::progress {

struct Hints {
  CoreSharing cores;
  // Threads inside a long wait, counted where messages may arrive: they handle them, unless they sleep.
  std::atomic<std::uint32_t> threads_waiting{0};
  std::atomic<std::uint32_t> threads_asleep{0};
  // Threads that have marked the doorbell, or are about to. Edge mark: see sleep_once().
  std::atomic<std::uint32_t> threads_marked{0};
  // Threads whose sleeps are longer than the policy's steps. They call the networks' thread when they return to the
  // program (edge long_wait).
  std::atomic<std::uint32_t> long_waits{0};
  std::atomic<bool> waiter_on_networks{false};      // one sleeps on the networks in place of their thread
  std::atomic<bool> network_thread_is_idle{false};  // it leaves the networks to others, and may be called

  // Returns whether a thread that waits in the library is awake: it polls.
  bool waiters_poll() const noexcept {
    return threads_waiting.load(std::memory_order_relaxed) > threads_asleep.load(std::memory_order_relaxed);
  }
  // Returns whether all threads that wait in the library sleep on the doorbell: none polls the networks.
  bool waiters_sleep() const noexcept {
    const std::uint32_t asleep = threads_asleep.load(std::memory_order_seq_cst);  // hand_over
    return asleep != 0 && asleep >= threads_waiting.load(std::memory_order_relaxed);
  }
};
inline constinit Hints hints;

}  // namespace shmemx::progress
