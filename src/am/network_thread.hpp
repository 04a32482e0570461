// The progress thread of the networks, as the layers that send see it: they call it when something has to leave, or
// may have to be sent again, and their own thread may leave the library and compute.
#pragma once

#include <atomic>
#include <cstdint>

namespace shmemx::am {

struct NetworkThread {
  std::atomic<bool> runs{false};          // so batches leave without a call of the program
  std::atomic<bool> sleeps_long{false};   // it notices by itself neither what is held back nor what is sent
  std::atomic<std::uint32_t> gathers{0};  // times that the program has begun to gather: a hint for the length of sleeps
  void (*wake)() = nullptr;               // set by runtime before the thread starts

  // Notes that the program gathers messages. The thread then sleeps for short times only.
  void note_gathering() noexcept { gathers.fetch_add(1, std::memory_order_relaxed); }
  // Wakes the thread if it sleeps long. Edge long_sleep: the caller has queued a message under the lock, then reads
  // whether the thread sleeps long. That thread announces its long sleep, then looks for messages under the lock.
  void call() noexcept {
    if (sleeps_long.load(std::memory_order_relaxed) &&             // long_sleep
        sleeps_long.exchange(false, std::memory_order_relaxed)) {  // long_sleep: once is enough
      wake();
    }
  }
};
inline constinit NetworkThread network_thread;

// Returns how often the program has begun to gather, a hint for any thread.
inline std::uint32_t gathered_batches() noexcept { return network_thread.gathers.load(std::memory_order_relaxed); }

}  // namespace shmemx::am
