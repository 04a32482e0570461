// Sets the process-wide waiting policy for the time of a test.
#pragma once

#include "base/wait.hpp"

namespace shmemx::unit {

class WaitingGuard {
 public:
  explicit WaitingGuard(const WaitPolicy& policy) : before_(wait_policy()) { wait_policy() = policy; }
  ~WaitingGuard() { wait_policy() = before_; }
  WaitingGuard(const WaitingGuard&) = delete;
  WaitingGuard& operator=(const WaitingGuard&) = delete;

 private:
  WaitPolicy before_;
};

}  // namespace shmemx::unit
