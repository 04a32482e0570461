// One run of oshrun: starts the PEs, waits for them, and ends all of them if one fails.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pe_binding.hpp"
#include "records.hpp"
#include "starter.hpp"
#include "supervisor.hpp"

namespace shmemx::launcher {

class Job final : private Supervisor {
 public:
  static Result<std::unique_ptr<Job>> create(JobSpec spec);

  // Runs the job and returns oshrun's exit status.
  int run();

 private:
  // state      what it means                                leads to
  // running    no PE has ended the job                      end_seen, at a check; ending, by the death of a PE, a limit
  // end_seen   a PE has ended the job and may still print   ending, at the next check, or by its death
  // ending     PEs get SIGTERM, and SIGKILL after a while   the end of the last PE
  enum class State { running, end_seen, ending };

  Job(JobSpec spec, Records records, Guard guard);

  // Events.
  void forward_signal(int number, bool by_key) override;
  void interrupt_debugged();
  void on_exit(const Processes::Ended& ended) override;
  void on_clock() override;
  bool explains_deaths() const override { return state_ != State::ending; }
  bool check_debugged(int pe);
  bool follow_job_end();
  void check_ended();
  void check_stuck();

  // End.
  void fail(const Processes::Ended& ended);
  void end_job(int status, int ended_by = -1);
  void note_absence();
  void say_waiting(const std::vector<int>& pes);
  void say_status();
  void say_likely_cause(const Processes::Ended& ended);

  JobSpec spec_;
  Records records_;
  PeBinding binding_;
  Starter starter_;
  State state_ = State::running;
  int fatal_signal_ = 0;  // was forwarded, so deaths by it are not reported
  bool late_failure_said_ = false;
};

}  // namespace shmemx::launcher
