#include "supervisor.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <cstdio>

namespace shmemx::launcher {

int status_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

void Supervisor::begin_limit(const JobSpec& spec) {
  if (spec.timeout_s > 0) deadlines_.limit_ms = now_ms() + static_cast<long>(spec.timeout_s * 1000);
}

std::string Supervisor::limit_text(const JobSpec& spec) {
  char limit[32];
  std::snprintf(limit, sizeof limit, "%g", spec.timeout_s);
  return limit;
}

void Supervisor::watch() {
  while (processes_.running() > 0) {
    const int wait_ms = deadlines_.wait_ms(now_ms(), output_.terminal().look_at_ms());
    if (output_.forward(signals_.fd(), wait_ms)) on_signals();
    on_clock();
  }
  signals_.keep_ending_ones();
  output_.finish(signals_.fd(), status_ != 0);
}

void Supervisor::on_signals() {
  while (const auto signal = signals_.next()) {
    if (signal->number == SIGCONT || signal->number == SIGWINCH) {
      output_.terminal().on_foreground();
    } else if (signal->number == SIGTSTP) {
      stop(signal->by_key);
    } else if (signal->number != SIGCHLD) {
      forward_signal(signal->number, signal->by_key);
    }
  }
  while (const auto ended = processes_.reap(explains_deaths())) on_exit(*ended);
}

// Stops the job until the shell continues it.
void Supervisor::stop(bool by_key) {
  output_.terminal().leave_foreground();
  processes_.stop_all();
  OwnSignals::stop_oshrun(by_key);
  processes_.signal_all(SIGCONT);
  output_.terminal().on_foreground();
}

}  // namespace shmemx::launcher
