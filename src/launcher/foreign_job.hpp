// A job that an installed launcher runs for oshrun, over several hosts. oshrun stays above that launcher: for the limit
// on time, and to show what the PEs do when a signal asks for that.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "deadlines.hpp"
#include "guard.hpp"
#include "options.hpp"
#include "output.hpp"
#include "own_signals.hpp"
#include "processes.hpp"

namespace shmemx::launcher {

class ForeignJob {
 public:
  static Result<std::unique_ptr<ForeignJob>> create(const JobSpec& spec);

  // Runs the launcher, whose command begins with its path. Returns oshrun's exit status.
  int run(std::vector<std::string>& words);

 private:
  ForeignJob(const JobSpec& spec, Guard guard);

  int start(std::vector<std::string>& words);
  void on_signals();
  void forward_signal(int number, bool by_key);
  void stop(bool by_key);
  void on_clock();
  void say_status();
  void signal(int number) const;

  const JobSpec& spec_;
  OwnSignals signals_;
  Output output_;
  Processes processes_;  // one: the launcher
  Deadlines deadlines_;
  pid_t launcher_ = 0;
  int status_ = 0;
  bool is_interrupted_ = false;  // by Ctrl-C
};

}  // namespace shmemx::launcher
