// One run of oshrun: starts the PEs, waits for them, and ends all of them if one fails.
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <memory>
#include <string>
#include <vector>

#include "binding.hpp"
#include "guard.hpp"
#include "memory_kills.hpp"
#include "options.hpp"
#include "records.hpp"
#include "streams.hpp"
#include "terminal.hpp"

namespace shmemx::launcher {

class Job {
 public:
  static Result<std::unique_ptr<Job>> create(JobSpec spec);

  // Runs the job and returns oshrun's exit status.
  int run();

 private:
  struct Process {
    const AppSpec* app = nullptr;
    pid_t pid = -1;               // -1 after it is reaped
    bool ended_in_order = false;  // with status 0
  };

  Job(JobSpec spec, Records records, Guard guard);

  // Start.
  bool start_all();
  bool start_one(int pe, const std::string& path, char* const* arguments, char* const* environment);
  bool open_streams(int pe, int (&files)[3], std::vector<UniqueFd>& ours);
  bool bind_pe(int pe, cpu_set_t* cpus) const;

  // Events.
  void wait_for_events();
  void forward_output(TaggedStream& stream);
  void finish_terminal();
  int wait_ms() const;
  void on_signals();
  void forward_signal(int number);
  void stop(bool by_key);
  void reap();
  void on_exit(int pe, int status);
  void on_clock();
  bool follow_job_end();
  void check_ended();
  void check_stuck();

  // Report.
  void announce();
  void note_lost_output(const TaggedStream& stream);
  void note_absence();

  // End.
  void fail(int pe, int status);
  void end_job(int status, int ended_by = -1);
  void kill_all(int signal_number);
  std::vector<int> living() const;
  void say(const std::string& text);
  std::string name_pe(int pe, pid_t pid) const;
  void say_waiting(const std::vector<int>& pes);

  JobSpec spec_;
  Records records_;
  Guard guard_;
  std::vector<Process> processes_;
  std::vector<TaggedStream> streams_;
  CoreClaims claims_;
  std::vector<std::vector<int>> cpu_groups_;  // of the claimed cores; empty if PEs are not bound
  Terminal terminal_;
  bool own_sessions_ = false;  // PEs leave the session that a terminal controls
  UniqueFd signals_;
  UniqueFd null_;
  sigset_t signals_before_{};
  sigset_t ignored_keys_{};  // signals of keys that the caller has ignored, as scripts do for jobs in the background
  rlimit open_files_{};
  std::string host_;

  int running_ = 0;
  int status_ = 0;
  int output_status_ = 0;  // nonzero if tagged output was lost; used if status_ is 0
  bool ending_ = false;
  int fatal_signal_ = 0;  // was forwarded, so deaths by it are not reported
  bool late_failure_said_ = false;
  long kill_at_ms_ = -1;
  long time_limit_ms_ = -1;
  long check_at_ms_ = -1;
  bool end_seen_ = false;
  MemoryKills memory_kills_;
  std::string memory_kill_;  // the memory limit that killed the process reaped last; empty if none did
};

}  // namespace shmemx::launcher
