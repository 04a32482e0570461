#include "job.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/clock.hpp"

namespace shmemx::launcher {

using bootstrap::JobState;
using bootstrap::PePhase;

namespace {

constexpr long kGraceMs = 800;          // from SIGTERM to SIGKILL: within two seconds of a death all PEs are gone
constexpr long kForwardGraceMs = 1500;  // the same for a signal from outside, which programs may handle
constexpr long kCheckMs = 500;
constexpr int kQuietMs = 10;         // output of PEs that have printed reaches oshrun within this time
constexpr int kTimeoutStatus = 124;  // as timeout(1) does

long now_ms() { return static_cast<long>(now_ns() / 1'000'000); }

int status_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

// Describes how a process ended. `cause` tells why the kernel killed it or one of its children, if known.
std::string describe_death(int status, const std::string& cause) {
  if (!WIFSIGNALED(status)) {
    return "exited with status " + std::to_string(WEXITSTATUS(status)) +
           (cause.empty() ? "" : " (its program was killed " + cause + ")");
  }
  const int number = WTERMSIG(status);
  const std::string core = WCOREDUMP(status) ? ", core dumped" : "";
  return "died of signal " + std::to_string(number) + " (" + ::strsignal(number) + (cause.empty() ? "" : " " + cause) +
         core + ")";
}

// Returns true if the process neither handles nor ignores the signal.
bool has_default_action(pid_t pid, int number) {
  std::FILE* const file = std::fopen(("/proc/" + std::to_string(pid) + "/status").c_str(), "re");
  if (file == nullptr) return true;
  char line[256];
  unsigned long long other = 0;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, "SigIgn:", 7) == 0 || std::strncmp(line, "SigCgt:", 7) == 0)
      other |= std::strtoull(line + 7, nullptr, 16);
  }
  std::fclose(file);
  return (other >> (number - 1) & 1U) == 0;
}

}  // namespace

int Job::run() {
  if (spec_.timeout_s > 0) time_limit_ms_ = now_ms() + static_cast<long>(spec_.timeout_s * 1000);
  start_all();
  check_at_ms_ = now_ms() + kCheckMs;
  while (running_ > 0) {
    wait_for_events();
    on_clock();
  }
  finish_terminal();
  for (TaggedStream& stream : streams_) {  // all writers are dead, so each pipe ends after its remaining data
    pollfd ready{stream.fd(), POLLIN, 0};
    while (stream.open() && ::poll(&ready, 1, 100) > 0) forward_output(stream);
    stream.close();
    note_lost_output(stream);
  }
  note_absence();
  return status_ != 0 ? status_ : output_status_;
}

void Job::wait_for_events() {
  std::vector<pollfd> polled{{signals_.get(), POLLIN, 0}};
  polled.resize(3);
  terminal_.fill_events(&polled[1], now_ms());
  for (const TaggedStream& stream : streams_)
    polled.push_back({stream.fd(), POLLIN, 0});  // -1 if closed, which poll ignores
  if (::poll(polled.data(), polled.size(), wait_ms()) < 0) return;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (polled[i + 3].revents != 0) forward_output(streams_[i]);
  }
  terminal_.on_events(&polled[1], now_ms());
  if (polled[0].revents != 0) on_signals();
}

// A signal that ends the job ends the wait for a terminal that takes no output.
void Job::finish_terminal() {
  sigset_t ends;
  ::sigemptyset(&ends);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&ends, number);
  ::signalfd(signals_.get(), &ends, SFD_CLOEXEC | SFD_NONBLOCK);
  terminal_.finish(signals_.get(), status_ != 0);
}

void Job::forward_output(TaggedStream& stream) {
  stream.forward();
  note_lost_output(stream);
}

int Job::wait_ms() const {
  long next = -1;
  for (long at : {kill_at_ms_, time_limit_ms_, check_at_ms_, terminal_.look_at_ms()}) {
    if (at >= 0 && (next < 0 || at < next)) next = at;
  }
  if (next < 0) return -1;
  return static_cast<int>(std::clamp(next - now_ms(), 0L, 60'000L));
}

void Job::on_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int number = static_cast<int>(info.ssi_signo);
    const bool by_key = info.ssi_code == SI_KERNEL;
    if (by_key && ::sigismember(&ignored_keys_, number) == 1) continue;
    if (number == SIGCONT || number == SIGWINCH) {
      terminal_.on_foreground();
    } else if (number == SIGTSTP) {
      stop(by_key);
    } else if (number != SIGCHLD) {
      forward_signal(number);
    }
  }
  reap();
}

// Stops the job until the shell continues it. The kernel does not stop PEs in sessions of their own at SIGTSTP, as
// nobody there could continue them. Nor would it stop oshrun at Ctrl-Z in a session without a shell.
void Job::stop(bool by_key) {
  terminal_.leave_foreground();
  kill_all(SIGTSTP);
  for (const Process& process : processes_) {
    if (process.pid > 0 && has_default_action(process.pid, SIGTSTP)) ::kill(-process.pid, SIGSTOP);
  }
  sigset_t stops;
  ::sigemptyset(&stops);
  ::sigaddset(&stops, SIGTSTP);
  if (by_key) ::sigprocmask(SIG_UNBLOCK, &stops, nullptr);
  ::kill(::getpid(), by_key ? SIGTSTP : SIGSTOP);  // returns here when the shell continues oshrun
  ::sigprocmask(SIG_BLOCK, &stops, nullptr);
  kill_all(SIGCONT);
  terminal_.on_foreground();
}

void Job::forward_signal(int number) {
  kill_all(number);
  if (number == SIGUSR1 || number == SIGUSR2) return;
  kill_all(SIGCONT);                               // a stopped PE must receive the signal too
  if (fatal_signal_ != 0) kill_at_ms_ = now_ms();  // the second signal: kill at once
  if (fatal_signal_ == 0 && !ending_) kill_at_ms_ = now_ms() + kForwardGraceMs;
  fatal_signal_ = number;
}

// Examines dead PEs, kills the rest of their groups and reaps them. A process number cannot be reused before it is
// reaped.
void Job::reap() {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    const pid_t pid = info.si_pid;
    if (pid != guard_.pid()) ::kill(-pid, SIGKILL);
    // A script whose program was killed ends with 128 + SIGKILL.
    const bool killed = info.si_code == CLD_EXITED ? info.si_status == 128 + SIGKILL : info.si_status == SIGKILL;
    const bool of_interest = killed && !ending_ && pid != guard_.pid();
    memory_kill_ = of_interest ? memory_kills_.describe(std::to_string(pid)) : std::string();
    int status = 0;
    ::waitpid(pid, &status, 0);
    const auto process =
        std::find_if(processes_.begin(), processes_.end(), [&](const Process& p) { return p.pid == pid; });
    if (process == processes_.end()) continue;
    const auto index = process - processes_.begin();
    guard_.groups()[index].store(0, std::memory_order_relaxed);
    --running_;
    on_exit(static_cast<int>(index), status);
    process->pid = -1;
  }
}

void Job::on_exit(int pe, int status) {
  Process& process = processes_[static_cast<std::size_t>(pe)];
  if (pe == 0) terminal_.set_reader(0);
  if (ending_) return;
  if (follow_job_end()) return;
  if (fatal_signal_ != 0) {
    if (status_ == 0) status_ = status_code(status);
    return;
  }
  if (status != 0) return fail(pe, status);
  process.ended_in_order = true;
}

// Ends the job with the status in the job header, if a PE has written one. Returns false if none has.
bool Job::follow_job_end() {
  const bootstrap::JobEnd end = records_.job_end();
  if (end.state == JobState::running) return false;
  end_job(end.state == JobState::aborted ? std::max(end.status, 1) : end.status, end.pe);
  return true;
}

// Handles a PE that ended the job but does not end itself: an exit handler of the program does not return, or a lock
// is never released.
void Job::check_ended() {
  const bool ended = records_.job_end().state != JobState::running;
  if (ended && end_seen_) follow_job_end();
  end_seen_ = ended;
}

// Ends the job because of a PE's status. After shmem_finalize the status still counts, but the other PEs may end by
// themselves.
void Job::fail(int pe, int status) {
  const std::string who =
      name_pe(pe, processes_[static_cast<std::size_t>(pe)].pid) + " " + describe_death(status, memory_kill_);
  if (WIFEXITED(status) && records_.phase(pe) == PePhase::finalized) {
    if (status_ == 0) status_ = status_code(status);
    if (!late_failure_said_) say(who + " after shmem_finalize");
    late_failure_said_ = true;
    return;
  }
  const std::string routine = records_.routine(pe);
  say(who + (routine.empty() ? "" : " while waiting in " + routine) + "; job ended");
  std::vector<int> others = living();
  std::erase(others, pe);
  say_waiting(others);
  end_job(status_ != 0 ? status_ : status_code(status));
}

void Job::on_clock() {
  const long now = now_ms();
  if (time_limit_ms_ >= 0 && now >= time_limit_ms_ && running_ > 0 && !ending_) {
    char limit[32];
    std::snprintf(limit, sizeof limit, "%g", spec_.timeout_s);
    say("time limit of " + std::string(limit) + " s reached with " + std::to_string(running_) + " of " +
        std::to_string(processes_.size()) + " PEs running; job ended");
    say_waiting(living());
    end_job(kTimeoutStatus);
  }
  if (ending_) time_limit_ms_ = -1;
  if (kill_at_ms_ >= 0 && now >= kill_at_ms_) {
    kill_all(SIGKILL);
    kill_at_ms_ = -1;
    if (fatal_signal_ != 0 && status_ == 0) status_ = 128 + fatal_signal_;
  }
  if (ending_) check_at_ms_ = -1;
  if (check_at_ms_ >= 0 && now >= check_at_ms_) {
    check_ended();
    if (!ending_) check_stuck();
    check_at_ms_ = ending_ ? -1 : now + kCheckMs;
  }
}

// Ends the job if PEs ended with status 0 and never came to shmem_init, while others wait for them there. All other
// waits are the business of the PEs, which know whether anything can still move (bootstrap/stuck.hpp).
void Job::check_stuck() {
  std::vector<int> absent;
  std::vector<int> waiting;
  for (int pe = 0; pe < static_cast<int>(processes_.size()); ++pe) {
    if (!processes_[static_cast<std::size_t>(pe)].ended_in_order) continue;
    if (records_.phase(pe) == PePhase::none) absent.push_back(pe);
  }
  if (absent.empty()) return;
  for (int pe : living()) {
    if (records_.waits_in_init(pe)) waiting.push_back(pe);
  }
  if (waiting.empty()) return;
  say("pe " + list_pes(absent) + " (host " + host_ + ") ended with status 0 without calling shmem_init, but others " +
      "wait for it: " + records_.describe_waiting(waiting) + "; job ended");
  end_job(1);
}

// The PE that ended the job may still be writing its diagnostic or output. It ends by itself, or is killed after the
// grace period.
void Job::end_job(int status, int ended_by) {
  if (ending_) return;
  ending_ = true;
  status_ = status;
  kill_at_ms_ = now_ms() + kGraceMs;
  for (int pe : living()) {
    if (pe != ended_by) ::kill(-processes_[static_cast<std::size_t>(pe)].pid, SIGTERM);
  }
  kill_all(SIGCONT);
}

void Job::kill_all(int signal_number) {
  for (const Process& process : processes_) {
    if (process.pid > 0) ::kill(-process.pid, signal_number);
  }
}

std::vector<int> Job::living() const {
  std::vector<int> pes;
  for (std::size_t pe = 0; pe < processes_.size(); ++pe) {
    if (processes_[pe].pid > 0) pes.push_back(static_cast<int>(pe));
  }
  return pes;
}

// What PEs have printed before stands in front of the line.
void Job::say(const std::string& text) {
  terminal_.drain(kQuietMs);
  const std::string line = "oshrun: " + text + "\n";
  write_all(STDERR_FILENO, line.data(), line.size());
}

std::string Job::name_pe(int pe, pid_t pid) const {
  return "pe " + std::to_string(pe) + " (pid " + std::to_string(pid) + ", host " + host_ + ")";
}

void Job::say_waiting(const std::vector<int>& pes) {
  if (const std::string waiting = records_.describe_waiting(pes); !waiting.empty()) say("waiting were: " + waiting);
}

}  // namespace shmemx::launcher
