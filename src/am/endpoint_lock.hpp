// The lock of a process's endpoint.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cache_line.hpp"
#include "base/mutex.hpp"

namespace shmemx::am {

// A process with one thread in the library takes no lock.
class EndpointLock {
 public:
  void lock() noexcept {
    note_lock();
    if (shared_ && (impatient_.load(std::memory_order_relaxed) != 0 ||  // a hint
                    held_.exchange(true, std::memory_order_acquire)))   // endpoint
      lock_slow();
  }
  // Takes the lock if no thread has it and none is impatient for it. Calls nothing, unlike lock().
  [[gnu::always_inline]] bool lock_at_once() noexcept {
    note_lock();
    if (!shared_ || (impatient_.load(std::memory_order_relaxed) == 0 &&    // a hint
                     !held_.exchange(true, std::memory_order_acquire))) {  // endpoint
      return true;
    }
    note_unlock();
    return false;
  }
  bool try_lock() noexcept {
    note_lock();
    const bool is_locked = !shared_ || !held_.exchange(true, std::memory_order_acquire);  // endpoint
    if (!is_locked) note_unlock();
    return is_locked;
  }
  void unlock() noexcept {
    if (shared_) held_.store(false, std::memory_order_release);  // endpoint
    note_unlock();
  }
  // From now on several threads use the endpoint. Called while no thread holds the lock, or when it is shared already:
  // then this writes nothing.
  void share() noexcept {
    if (!shared_) shared_ = true;
  }
  // Grows when a thread has to wait for the lock; a hint for the progress threads.
  std::uint32_t contention() const noexcept { return contention_.load(std::memory_order_relaxed); }
  bool is_shared() const noexcept { return shared_; }

 private:
  [[gnu::noinline, gnu::cold]] void lock_slow() noexcept;
  void let_impatient_go_first() const noexcept;

  bool shared_ = false;
  alignas(kCacheLine) std::atomic<bool> held_{false};
  alignas(kCacheLine) std::atomic<std::uint32_t> contention_{0};
  std::atomic<std::uint32_t> impatient_{0};  // threads that have yielded their core several times in vain
};
inline constinit EndpointLock endpoint_lock;

// Holds the lock if it was free. The path behind the one that uses this waits for it: this one calls nothing, so that
// no register has to be kept across a call.
class LockedAtOnce {
 public:
  [[gnu::always_inline]] LockedAtOnce() noexcept : is_held_(endpoint_lock.lock_at_once()) {}
  [[gnu::always_inline]] ~LockedAtOnce() {
    if (is_held_) endpoint_lock.unlock();
  }
  LockedAtOnce(const LockedAtOnce&) = delete;
  LockedAtOnce& operator=(const LockedAtOnce&) = delete;
  explicit operator bool() const noexcept { return is_held_; }

 private:
  bool is_held_;
};

}  // namespace shmemx::am
