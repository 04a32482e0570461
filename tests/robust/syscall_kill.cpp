// SIGKILL at the k-th system call, for k over the whole life of a job: of a PE, or of oshrun.
//
//   syscall_kill OSHRUN PROGRAM [ARGUMENTS...]
//
// The job runs under ptrace. The victim stops at every entry to and exit from a system call; at the chosen stop it is
// killed. After that all processes of the job must end in time, nothing may be left on the machine, and the next job
// must succeed. ROBUST_KILL_POINTS sets the number of points (48; 500 for a long run).
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "../support/leaks.hpp"

namespace {

constexpr int kSkipped = 77;
constexpr int kPes = 3;
constexpr int kLauncher = -1;            // the number of oshrun as a victim
constexpr double kAllGoneSeconds = 2.0;  // guaranteed
constexpr double kBusySeconds = 10.0;    // additional time on a busy machine
constexpr double kJobSeconds = 90;

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

struct Outcome {
  long stops = 0;  // system-call stops of the victim
  bool killed = false;
  std::string at;         // what the victim was doing
  double gone_after = 0;  // from the kill until the last process of the job had ended
  bool timed_out = false;
  int launcher_status = 0;  // of waitpid
};

// Returns the PE number of a process that oshrun started; kPes if it has none (yet).
int pe_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::string key = "SHMEMX_JOB_PE=";
  for (std::size_t at = 0; at < text.size(); at = text.find('\0', at) + 1) {
    if (text.compare(at, key.size(), key) == 0) return std::atoi(text.c_str() + at + key.size());
    if (text.find('\0', at) == std::string::npos) break;
  }
  return kPes;
}

[[noreturn]] void become_launcher(const std::vector<std::string>& command) {
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  raise(SIGSTOP);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

// Follows all processes of one job. Only the victim stops at system calls.
class Trace {
 public:
  Trace(int victim, long kill_at) : victim_(victim), kill_at_(kill_at) {}

  Outcome run(const std::vector<std::string>& command) {
    launcher_ = fork();
    if (launcher_ == 0) become_launcher(command);
    int status = 0;
    waitpid(launcher_, &status, 0);
    constexpr long kOptions =
        PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
    ptrace(PTRACE_SETOPTIONS, launcher_, nullptr, kOptions);
    resume(launcher_, 0);
    const double deadline = now() + kJobSeconds;
    while (true) {
      const pid_t pid = waitpid(-1, &status, __WALL | WNOHANG);
      if (pid < 0 && errno == ECHILD) break;
      if (pid > 0) {
        on_event(pid, status);
        continue;
      }
      if (now() > deadline) return give_up();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    if (outcome_.killed) outcome_.gone_after = now() - killed_at_;
    return outcome_;
  }

 private:
  bool is_victim(pid_t pid) const { return victim_ == kLauncher ? pid == launcher_ : pid == victim_pid_; }

  void resume(pid_t pid, int signal_number) {
    const bool stop_again = is_victim(pid) && !outcome_.killed;
    ptrace(stop_again ? PTRACE_SYSCALL : PTRACE_CONT, pid, nullptr, static_cast<long>(signal_number));
  }

  void on_event(pid_t pid, int status) {
    if (!WIFSTOPPED(status)) {
      if (pid == launcher_) outcome_.launcher_status = status;
      known_.erase(pid);
      return;
    }
    const int number = WSTOPSIG(status);
    const int event = status >> 16;
    if (event == PTRACE_EVENT_EXEC && victim_ != kLauncher && pe_of(pid) == victim_ && victim_pid_ == 0)
      victim_pid_ = pid;
    if (number == (SIGTRAP | 0x80)) return on_system_call(pid);
    const bool first_stop = number == SIGSTOP && event == 0 && !known_[pid] && pid != launcher_;
    known_[pid] = true;
    const bool is_ours = event != 0 || first_stop || number == SIGTRAP;
    resume(pid, is_ours ? 0 : number);
  }

  // Yields are not counted: a waiting PE makes no other calls, and the points should be spread over the whole job.
  void on_system_call(pid_t pid) {
    user_regs_struct registers;
    ptrace(PTRACE_GETREGS, pid, nullptr, &registers);
    if (registers.orig_rax != SYS_sched_yield && ++outcome_.stops == kill_at_) {
      outcome_.killed = true;
      outcome_.at = "system call " + std::to_string(registers.orig_rax) + ", stop " + std::to_string(kill_at_);
      killed_at_ = now();
      kill(pid, SIGKILL);
      return;
    }
    resume(pid, 0);
  }

  Outcome give_up() {
    outcome_.timed_out = true;
    for (const auto& [pid, stopped] : known_) kill(pid, SIGKILL);
    kill(launcher_, SIGKILL);
    while (waitpid(-1, nullptr, __WALL) > 0 || errno != ECHILD) {
    }
    return outcome_;
  }

  int victim_;
  long kill_at_;
  pid_t launcher_ = 0;
  pid_t victim_pid_ = 0;
  double killed_at_ = 0;
  std::map<pid_t, bool> known_;
  Outcome outcome_;
};

class Sweep {
 public:
  explicit Sweep(std::vector<std::string> command) : command_(std::move(command)) {}

  int failures() const { return failures_; }

  void run(int victim, int points) {
    const std::string who = victim == kLauncher ? "oshrun" : "pe " + std::to_string(victim);
    long stops =
        std::numeric_limits<long>::max();  // of the shorter one of two runs: on a busy machine there may be more
    for (int turn = 0; turn < 2; ++turn) {
      const Outcome whole = Trace(victim, 0).run(command_);
      expect_success(who + " left alone", whole);
      stops = std::min(stops, whole.stops);
    }
    int kills = 0;
    slowest_ = 0;
    for (int point = 0; point < points; ++point) {
      const long at = 1 + stops * point / points;
      kills += strike(who, victim, at) ? 1 : 0;
    }
    std::printf("%s: killed at %d of %d points within %ld system-call stops; last process gone after %.1f ms at most\n",
                who.c_str(), kills, points, stops, 1e3 * slowest_);
    if (kills < points / 2) fail(who + ": most points were never reached");
    expect_success(who + ": the job after the last kill", Trace(kPes, 0).run(command_));
  }

 private:
  bool strike(const std::string& who, int victim, long at) {
    const leaks::Snapshot before = leaks::take_snapshot();
    const Outcome outcome = Trace(victim, at).run(command_);
    const std::string what = who + ", " + (outcome.killed ? outcome.at : "not reached");
    if (!outcome.killed) {
      expect_success(what, outcome);
    } else {
      if (outcome.timed_out) fail(what + ": processes of the job were left");
      if (outcome.gone_after > kAllGoneSeconds + kBusySeconds)
        fail(what + ": ended only after " + std::to_string(outcome.gone_after) + " s");
      check_status(what, victim, outcome.launcher_status);
      slowest_ = std::max(slowest_, outcome.gone_after);
    }
    for (const std::string& leak : leaks::new_names(before)) fail(what + ": " + leak);
    return outcome.killed;
  }

  void check_status(const std::string& what, int victim, int status) {
    if (victim == kLauncher) {
      if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) fail(what + ": oshrun was not killed");
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 128 + SIGKILL) {
      fail(what + ": wait status of oshrun is " + std::to_string(status));
    }
  }

  void expect_success(const std::string& what, const Outcome& outcome) {
    if (outcome.timed_out || outcome.launcher_status != 0)
      fail(what + ": wait status " + std::to_string(outcome.launcher_status) +
           (outcome.timed_out ? ", timed out" : ""));
  }

  void fail(const std::string& what) {
    ++failures_;
    std::fprintf(stderr, "FAILED: %s\n", what.c_str());
  }

  std::vector<std::string> command_;
  int failures_ = 0;
  double slowest_ = 0;
};

bool may_trace() {
  const pid_t pid = fork();
  if (pid == 0) _exit(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : 1);
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  if (!may_trace()) {
    std::printf("skipped: ptrace is not allowed here\n");
    return kSkipped;
  }
  std::vector<std::string> command = {
      "/bin/sh", "-c", "exec \"$@\" >/dev/null 2>&1", "sh", argv[1], "-n", std::to_string(kPes), "--timeout", "80"};
  if (std::getenv("ROBUST_VERBOSE") != nullptr) command[2] = "exec \"$@\"";
  command.insert(command.end(), argv + 2, argv + argc);
  const char* const value = std::getenv("ROBUST_KILL_POINTS");
  const int points = value != nullptr ? std::max(4, std::atoi(value)) : 48;
  leaks::try_isolate(command);
  leaks::adopt_orphans();
  leaks::use_private_tmp();
  Sweep sweep(command);
  sweep.run(0, points / 4);
  sweep.run(1, points / 4);
  sweep.run(kPes - 1, points / 4);
  sweep.run(kLauncher, points - 3 * (points / 4));
  leaks::remove_private_tmp();
  return sweep.failures() == 0 ? 0 : 1;
}
