// Finds threads that enter at once what the granted threading model gives to one.
#pragma once

#include <unistd.h>

#include <atomic>
#include <mutex>

#include "violation.hpp"

namespace strict_provider {

class Serial {
 public:
  explicit Serial(const char* what) noexcept : what_(what) {}
  void enter(const char* call) noexcept {
    thread_local const int me = ::gettid();
    int owner = 0;
    if (!owner_.compare_exchange_strong(owner, me))
      violation("%s: threads %d and %d are in one %s at once, against the threading model", call, owner, me, what_);
  }
  void leave() noexcept { owner_.store(0); }

 private:
  const char* what_;
  std::atomic<int> owner_{0};
};

// One call of a program: checks the threading model, and holds the lock of what endpoints share.
class Entry {
 public:
  Entry(const char* call, Serial* serial, std::mutex& lock) : serial_(serial) {
    if (serial_ != nullptr) serial_->enter(call);
    lock_ = std::unique_lock(lock);
  }
  ~Entry() {
    lock_.unlock();
    if (serial_ != nullptr) serial_->leave();
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  Serial* serial_;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace strict_provider
