// The processes of the PEs: which live, signals to them, and how they end.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "guard.hpp"
#include "memory_kills.hpp"

namespace shmemx::launcher {

class Processes {
 public:
  struct Ended {
    int pe;
    pid_t pid;
    int status;               // as waitpid gives it
    std::string memory_kill;  // the memory limit at which the kernel killed it; empty if none did
  };

  Processes(Guard guard, int n_pes) : guard_(std::move(guard)), processes_(static_cast<std::size_t>(n_pes)) {}

  int size() const { return static_cast<int>(processes_.size()); }
  int running() const { return running_; }
  // Where a new process writes its group.
  std::atomic<pid_t>* group(int pe) { return guard_.groups() + pe; }
  // A PE has started.
  void add(int pe, pid_t pid);

  // Returns the next PE that has ended, after killing the rest of its group. `explains`: asks whether the kernel killed
  // it at a memory limit.
  std::optional<Ended> reap(bool explains);
  // Remembers a PE that has ended with status 0.
  void note_success(int pe) { processes_[static_cast<std::size_t>(pe)].succeeded = true; }
  bool has_succeeded(int pe) const { return processes_[static_cast<std::size_t>(pe)].succeeded; }

  std::vector<int> living() const;
  // Send a signal to the group of a living PE, or of each.
  void signal(int pe, int number) const;
  void signal_all(int number) const;
  // Stops all PEs, also those that SIGTSTP does not stop.
  void stop_all() const;

 private:
  struct Process {
    pid_t pid = -1;  // -1 before its start and after it is reaped
    bool succeeded = false;
  };

  Guard guard_;
  std::vector<Process> processes_;
  int running_ = 0;
  MemoryKills memory_kills_;
};

}  // namespace shmemx::launcher
