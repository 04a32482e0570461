// Checks of jobs that run side by side, each in a process of its own. For jobs that mostly wait.
#pragma once

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "job.hpp"

namespace job_check {

class SideBySide {
 public:
  SideBySide()
      : counts_(static_cast<Counts*>(
            ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (counts_ == MAP_FAILED) std::abort();
  }
  SideBySide(const SideBySide&) = delete;
  SideBySide& operator=(const SideBySide&) = delete;

  template <class Check>
  void start(Check check) {
    const pid_t child = ::fork();
    if (child != 0) {
      children_.push_back(child);
      return;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    checks = failures = 0;
    check();
    counts_->checks += checks;
    counts_->failures += failures;
    ::_exit(0);
  }

  // Waits for all, and adds what they have counted.
  ~SideBySide() {
    for (const pid_t child : children_) {
      int status = 1;
      if (::waitpid(child, &status, 0) == child && status == 0) continue;
      std::fprintf(stderr, "a process that checks has ended with status %d\n", status);
      ++failures;
    }
    checks += counts_->checks;
    failures += counts_->failures;
    ::munmap(counts_, sizeof *counts_);
  }

 private:
  struct Counts {
    std::atomic<int> checks, failures;
  };
  Counts* counts_;
  std::vector<pid_t> children_;
};

}  // namespace job_check
