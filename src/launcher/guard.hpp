// A process that outlives oshrun for a moment: if oshrun ends without dismissing it, the guard kills the process
// groups of all PEs. So no program that a wrapper script started stays behind. PEs die with oshrun by
// PR_SET_PDEATHSIG, which does not reach their children.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace shmemx::launcher {

class Guard {
 public:
  static Result<Guard> start(std::size_t n_groups);
  Guard(Guard&& other) noexcept;
  Guard& operator=(Guard&&) = delete;
  ~Guard();  // dismisses the guard, which then ends without a kill

  // The process group of each PE, 0 if there is none. Shared with the guard; each PE writes its entry before it runs
  // a program.
  std::atomic<pid_t>* groups() { return groups_; }
  pid_t pid() const { return pid_; }

 private:
  Guard(std::atomic<pid_t>* groups, std::size_t n_groups, UniqueFd life, pid_t pid)
      : groups_(groups), n_groups_(n_groups), life_(std::move(life)), pid_(pid) {}

  std::atomic<pid_t>* groups_;
  std::size_t n_groups_;
  UniqueFd life_;  // the end of a pipe that is closed when oshrun ends
  pid_t pid_;
};

}  // namespace shmemx::launcher
