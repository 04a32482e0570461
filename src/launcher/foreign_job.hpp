// A job that an installed launcher runs for oshrun, over several hosts. oshrun stays above that launcher: for the limit
// on time, and to show what the PEs do when a signal asks for that.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "supervisor.hpp"

namespace shmemx::launcher {

class ForeignJob final : private Supervisor {  // of one process, the launcher
 public:
  static Result<std::unique_ptr<ForeignJob>> create(const JobSpec& spec);

  // Runs the launcher, whose command begins with its path. Returns oshrun's exit status.
  int run(std::vector<std::string>& words);

 private:
  ForeignJob(const JobSpec& spec, Guard guard);

  int start(std::vector<std::string>& words);
  void forward_signal(int number, bool by_key) override;
  void on_exit(const Processes::Ended& ended) override;
  void on_clock() override;
  bool explains_deaths() const override { return false; }
  void say_status();
  void signal(int number) const;

  const JobSpec& spec_;
  pid_t launcher_ = 0;
  bool is_interrupted_ = false;  // by Ctrl-C
};

}  // namespace shmemx::launcher
