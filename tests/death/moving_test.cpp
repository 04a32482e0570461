// One PE leaves, and the others go on: a job that moves is not ended, and one in which all wait in vain is, soon. On a
// busy core, so that a PE that could go on waits for it. A driver, not a PE. Arguments: the kinds to run, which run
// side by side.
//
// SHMEMX_TEST_LAUNCHER: Hydra's mpiexec, in place of oshrun. SHMEMX_TEST_RUNS: how often each kind runs, 5 by default.
// SHMEMX_TEST_MOVING_SECONDS: how long the PEs go on.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "../support/job.hpp"
#include "../support/side_by_side.hpp"

namespace {

using job_check::checks;
using job_check::expect;
using job_check::failures;
std::string launcher, program;

// Then there is no oshrun that watches the PEs, and a launcher has lines of its own.
bool by_hydra() { return launcher.find("hydra") != std::string::npos; }

// Binds this process and its jobs to one core, on which a program computes until the end of this object.
class BusyCore {
 public:
  BusyCore() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    std::vector<std::size_t> cpus;
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) cpus.push_back(cpu);
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpus[static_cast<std::size_t>(::getpid()) % cpus.size()], &one);
    ::sched_setaffinity(0, sizeof one, &one);
    child_ = ::fork();
    if (child_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile long sink = 0;;) sink = sink + 1;
  }
  ~BusyCore() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::sched_setaffinity(0, sizeof before_, &before_);
  }
  BusyCore(const BusyCore&) = delete;
  BusyCore& operator=(const BusyCore&) = delete;

 private:
  pid_t child_ = 0;
  cpu_set_t before_{};
};

// "namespaces": each PE in a PID namespace of its own, with a number that no process has in those of the others.
job::Result run(int pes, const std::string& kind, const std::string& seconds,
                const std::vector<std::string>& environment = {}) {
  std::vector<std::string> command = {launcher, "-n", std::to_string(pes)};
  if (!by_hydra()) command.insert(command.end(), {"-q", "--timeout", "60"});
  constexpr char kTakeNumbers[] =
      "i=0; while [ $i -lt $((7 * ${PMI_RANK:-$SHMEMX_JOB_PE})) ]; do /bin/true; i=$((i+1)); done; \"$@\"; exit $?";
  if (kind == "namespaces")
    command.insert(command.end(), {"unshare", "--fork", "--pid", "--kill-child", "sh", "-c", kTakeNumbers, "sh"});
  command.insert(command.end(), {program, kind, seconds});
  return job::run({.command = command, .environment = environment, .limit_seconds = 75});
}

void expect_whole(const job::Result& result, int pes, const std::string& kind) {
  const auto done = job::lines(result.out);
  const int movers = kind == "namespaces" ? pes : pes - 1;
  expect(result.status == 0 && result.err.empty() && static_cast<int>(done.size()) == movers,
         kind + " on " + std::to_string(pes) + ": goes on to its end", result);
}

int number_of(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

// The numbers of PEs take turns, so that a few runs have several. `shift` differs between forms that run at once.
void a_job_that_moves_is_not_ended(const std::string& kind, std::size_t shift) {
  constexpr int kPes[] = {3, 2, 12, 8, 5};
  const int runs = number_of("SHMEMX_TEST_RUNS", 5);
  const char* const seconds = std::getenv("SHMEMX_TEST_MOVING_SECONDS");
  for (int i = 0; i < runs; ++i) {
    // Two PEs pass a token to themselves, so that one waits for nobody.
    const int pes = kPes[(static_cast<std::size_t>(i) + shift) % std::size(kPes)];
    const auto waiting =
        i % 3 == 2 ? std::vector<std::string>{"SHMEMX_YIELD_US=0", "SHMEMX_SPIN_NS=0"} : std::vector<std::string>{};
    expect_whole(run(pes, kind, seconds != nullptr ? seconds : "2.5", waiting), pes, kind);
  }
}

constexpr double kSecondsToTell = 20;  // five for the verdict; a job that nobody ends takes a minute

void a_wait_in_vain_is_reported(const std::string& kind, int pes) {
  const job::Result result = run(pes, kind, "0");
  const std::string what = kind + " on " + std::to_string(pes);
  const auto lines = job::lines(result.err);
  const std::string line = "PE " + std::to_string(pes - 1) + " has ended, and all others wait";
  const bool is_reported = by_hydra() ? result.err.find(line) != std::string::npos
                                      : lines.size() == 1 && lines[0].find(line) != std::string::npos;
  expect(result.status == 1 && is_reported, what + ": is reported", result);
  expect(result.seconds < kSecondsToTell, what + ": soon", result);
}

void jobs_that_move_are_not_ended(const std::vector<std::string>& kinds) {
  const BusyCore busy;
  job_check::SideBySide all;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    all.start([&] { a_job_that_moves_is_not_ended(kinds[kind], kind); });
}

void waits_in_vain_are_reported(const std::vector<std::string>& kinds) {
  job_check::SideBySide all;
  for (const std::string& kind : kinds) {
    for (const int pes : {2, 4}) all.start([&] { a_wait_in_vain_is_reported(kind, pes); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const char* const other = std::getenv("SHMEMX_TEST_LAUNCHER");
  launcher = other != nullptr ? other : argv[1];
  program = argv[3];
  std::vector<std::string> moving;
  std::vector<std::string> in_vain;
  for (int i = 4; i < argc; ++i) (std::string(argv[i]).ends_with("in_vain") ? in_vain : moving).emplace_back(argv[i]);
  jobs_that_move_are_not_ended(moving);
  waits_in_vain_are_reported(in_vain);
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
