// The library's mutex, and which of its locks the calling thread holds.
//
// A thread may end the process while it is inside a call of the library: from a signal handler, or from a handler of an
// active message. The end of the process needs locks that this thread holds then, and must not wait for them.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace shmemx {

// The locks that this thread holds or waits for. Written by this thread, read by its signal handlers. It lies at an
// offset from the thread's own block: a look-up would be a call.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local std::uint32_t locks_held = 0;

// Before a lock is taken, and after it has been released.
[[gnu::always_inline]] inline void note_lock() noexcept {
  ++locks_held;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // in this order for signal handlers of the thread
}
[[gnu::always_inline]] inline void note_unlock() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  --locks_held;
}

class Mutex {
 public:
  void lock() noexcept {
    note_lock();
    mutex_.lock();
  }
  bool try_lock() noexcept {
    note_lock();
    const bool is_locked = mutex_.try_lock();
    if (!is_locked) note_unlock();
    return is_locked;
  }
  void unlock() noexcept {
    mutex_.unlock();
    note_unlock();
  }

 private:
  std::mutex mutex_;
};

}  // namespace shmemx
