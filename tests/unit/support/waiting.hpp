// Sets how this process waits, and its doorbell, for the time of a test.
#pragma once

#include "base/doorbell.hpp"
#include "progress/policy.hpp"

namespace shmemx::unit {

struct WaitSettings : progress::Policy {
  Doorbell* own_doorbell = nullptr;
};

class WaitingGuard {
 public:
  explicit WaitingGuard(const WaitSettings& settings) : before_(progress::policy()), doorbell_(doorbell_hooks.own) {
    progress::policy() = settings;
    doorbell_hooks.own = settings.own_doorbell;
  }
  ~WaitingGuard() {
    progress::policy() = before_;
    doorbell_hooks.own = doorbell_;
  }
  WaitingGuard(const WaitingGuard&) = delete;
  WaitingGuard& operator=(const WaitingGuard&) = delete;

 private:
  progress::Policy before_;
  Doorbell* doorbell_;
};

}  // namespace shmemx::unit
