#include "foreign_job.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "records.hpp"
#include "spawn.hpp"

namespace shmemx::launcher {
namespace {

constexpr long kLauncherGraceMs = 3000;  // from SIGTERM to SIGKILL: it ends processes on other hosts
constexpr int kReader = 0;               // the launcher reads for PE 0

}  // namespace

Result<std::unique_ptr<ForeignJob>> ForeignJob::create(const JobSpec& spec) {
  SHMEMX_TRY_ASSIGN(guard, Guard::start(1));  // first, so that it inherits almost nothing
  std::unique_ptr<ForeignJob> job(new ForeignJob(spec, std::move(guard)));
  if (!job->signals_.valid()) return system_error("open a signalfd");
  return job;
}

ForeignJob::ForeignJob(const JobSpec& spec, Guard guard) : Supervisor(std::move(guard), 1), spec_(spec) {}

int ForeignJob::run(std::vector<std::string>& words) {
  begin_limit(spec_);
  if (const int failed = start(words); failed != 0) return failed;
  watch();
  return status_;
}

int ForeignJob::start(std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  Terminal& terminal = output_.terminal();
  SpawnSpec spec;
  spec.path = arguments[0];
  spec.arguments = arguments.data();
  spec.environment = environ;
  spec.signals = &signals_.mask_before();
  spec.group = processes_.group(kReader);
  spec.own_session = terminal.is_open() || has_controlling_terminal();
  spec.terminal = terminal.pe_end();
  for (int file = 0; file < 3; ++file) {
    if (terminal.stands_for(file)) spec.standard_files[file] = terminal.pe_end();
  }
  const Spawned spawned = spawn(spec);
  processes_.add(kReader, spawned.pid);
  terminal.set_reader(spawned.pid);
  launcher_ = spawned.pid;
  if (spawned.error == 0) return 0;
  output_.say(std::string("cannot ") + spawned.action + " " + words[0] + ": " + std::strerror(spawned.error));
  return spawned.error == ENOENT ? 127 : 126;
}

void ForeignJob::on_exit(const Processes::Ended& ended) {
  if (status_ == 0) status_ = status_code(ended.status);
  output_.terminal().set_reader(0);
}

// SIGQUIT asks what the PEs do, and changes nothing. The first Ctrl-C shows it before it ends them.
void ForeignJob::forward_signal(int number, bool by_key) {
  if (number == SIGQUIT) return say_status();
  const bool is_first = number == SIGINT && by_key && !is_interrupted_;
  if (is_first) is_interrupted_ = true;
  if (is_first && !spec_.quiet) say_status();
  if (by_key) {
    processes_.signal_all(number);  // as the terminal would
  } else {
    signal(number);
  }
}

void ForeignJob::on_clock() {
  const long now = now_ms();
  if (Deadlines::is_due(deadlines_.limit_ms, now) && processes_.running() > 0) {
    output_.say("time limit of " + limit_text(spec_) + " s reached; job ended");
    say_status();
    status_ = kTimeoutStatus;
    deadlines_.limit_ms = -1;
    deadlines_.kill_ms = now_ms() + kLauncherGraceMs;
    signal(SIGTERM);
    signal(SIGCONT);
  }
  if (Deadlines::is_due(deadlines_.kill_ms, now)) {
    processes_.signal_all(SIGKILL);
    deadlines_.kill_ms = -1;
  }
}

// By a PE of this host, if there is one.
void ForeignJob::say_status() {
  auto records = Records::at_or_below(launcher_);
  if (!records)
    return output_.say(
        "info: no PE of this job runs below its launcher on this host; "
        "oshrun --status PID, with the process number of a PE on its host, shows what the PEs do");
  for (const std::string& line : records->status_lines()) output_.say(line);
}

void ForeignJob::signal(int number) const {
  if (processes_.running() > 0) ::kill(launcher_, number);
}

}  // namespace shmemx::launcher
