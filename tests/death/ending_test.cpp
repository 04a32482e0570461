// How jobs end: global_exit from anywhere (section 9.1.6), statuses, signals. A driver, not a PE.
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "../support/job.hpp"

namespace {

using job_check::checks;
using job_check::expect;
using job_check::failures;
std::string oshrun, program;

job::Result run(int pes, const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {},
                double most_seconds = 15) {
  std::vector<std::string> command = {oshrun, "-n", std::to_string(pes), "--timeout", "60", program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  job::Result result = job::run({.command = command, .environment = environment, .limit_seconds = 70});
  const std::string what = arguments[0] + " on " + std::to_string(pes);
  expect(!result.timed_out && result.signal == 0, what + ": ends by itself", result);
  expect(result.seconds < most_seconds, what + ": ends soon", result);
  for (const std::string& leak : result.leaks) expect(false, what + ": " + leak, result);
  return result;
}

void global_exit_ends_pes_wherever_they_are() {
  for (const char* state : {"barrier", "wait", "lock", "quiet", "reduce", "malloc", "compute"}) {
    for (const int status : {0, 6, 77}) {
      if (std::string(state) == "lock" || std::string(state) == "reduce" || std::string(state) == "malloc") {
        if (status != 6) continue;
      }
      const job::Result result = run(3, {std::string("global_exit_") + state, std::to_string(status)});
      expect(result.status == status, std::string("global_exit keeps its status, other PEs in ") + state, result);
      expect(result.out.find("text of pe 2") != std::string::npos,
             std::string("stdio is flushed, other PEs in ") + state, result);
    }
  }
}

void one_of_several_statuses_wins() {
  for (int round = 0; round < 5; ++round) {
    const job::Result result = run(4, {"all_global_exit", "40"});
    expect(result.status >= 40 && result.status < 44, "several callers: one status wins", result);
  }
}

void statuses_are_kept() {
  for (const int status : {0, 1, 3, 42, 255}) {
    expect(run(1, {"return", std::to_string(status)}).status == status, "one PE: status of main", {});
    const job::Result result = run(3, {"finalize_then_status", std::to_string(status)});
    expect(result.status == status, "status after finalize", result);
  }
  const job::Result result = run(3, {"return", "9"});
  expect(result.status == 9, "status without finalize", result);
}

void an_early_end_of_one_pe_ends_all() {
  job::Result result = run(3, {"exit_while_others_are_in_a_barrier", "5"});
  expect(result.status == 5, "exit of one while others wait", result);
  result = run(3, {"abort_while_others_are_in_a_barrier"});
  expect(result.status == 128 + SIGABRT, "abort of one while others wait", result);
  expect(result.err.find("pe 2") != std::string::npos || result.err.find("PE 2") != std::string::npos,
         "the PE is named", result);
  result = run(3, {"segv_while_others_wait"});
  expect(result.status == 128 + SIGSEGV, "fault of one while others wait", result);
  expect(result.err.find("pe 2") != std::string::npos || result.err.find("PE 2") != std::string::npos,
         "the PE is named", result);
  // Status 0 without a call of the barrier in which the others wait: they can never leave it.
  result = run(3, {"exit_while_others_are_in_a_barrier", "0"});
  expect(result.status != 0 || result.timed_out, "leaving others in a barrier is an error", result);
}

void expect_one_error_line(const job::Result& result, const std::string& what, const std::string& named) {
  expect(result.status > 0 && result.status < 128, what + ": is an error", result);
  const auto lines = job::lines(result.err);
  expect(lines.size() == 1, what + ": one line reports it", result);
  const std::string beside = "pe " + named.substr(3);  // as a line names it that shows the calls of two PEs
  const bool is_named =
      !lines.empty() && (lines[0].find(named) != std::string::npos || lines[0].find(beside) != std::string::npos);
  expect(is_named, what + ": the line names " + named, result);
}

// A wait that no PE can end is distinguished from a slow one by several checks in a row.
constexpr double kSecondsToTell = 20;

// Status 0, no shmem_finalize: no PE hangs, in whichever routine the others wait and however they wait.
void a_silent_end_of_one_pe_is_reported() {
  for (const char* state :
       {"reduce", "wait", "signal_wait", "lock", "team_sync", "new_team_sync", "broadcast", "barrier", "malloc"}) {
    const std::string scenario = std::string("leave_in_") + state;
    expect_one_error_line(run(3, {scenario}, {}, kSecondsToTell), scenario, "PE 2");
    expect_one_error_line(run(2, {scenario}, {"SHMEM_WAIT=block"}, kSecondsToTell), scenario + ", SHMEM_WAIT=block",
                          "PE 1");
  }
  for (const char* state : {"barrier", "reduce", "wait", "lock"}) {
    const std::string scenario = std::string("leave_in_") + state;
    expect_one_error_line(run(2, {scenario}, {"SHMEM_WAIT=spin"}, kSecondsToTell), scenario + ", SHMEM_WAIT=spin",
                          "PE 1");
  }
  for (const char* state : {"barrier", "wait", "lock"}) {
    const std::string scenario = std::string("leave_in_") + state;
    const job::Result result = run(3, {scenario, "1"}, {}, kSecondsToTell);  // by _exit
    expect_one_error_line(result, scenario + ", _exit", result.err.find("oshrun") == 0 ? "pe 2" : "PE 2");
  }
}

void a_pe_that_never_starts_is_reported() {
  expect_one_error_line(run(3, {"start_pes_without_one"}), "start_pes without PE 0", "pe 0");
  expect_one_error_line(run(3, {"start_pes_without_one"}, {"SHMEM_WAIT=spin"}), "start_pes without PE 0, spinning",
                        "pe 0");
}

// Either status is right; a mix of both, a signal, or a second message is an error.
void a_race_of_ends_has_one_winner() {
  for (int round = 0; round < 10; ++round) {
    const job::Result result = run(round % 2 == 0 ? 2 : 4, {"race_of_ends", "37"});
    expect(result.status == 0 || result.status == 37, "global_exit(0) beside exit(37): one of the two", result);
    if (result.status == 0) expect(result.err.empty(), "global_exit(0) has won: no message", result);
    // oshrun prints a line about the end, and another one if PEs were waiting.
    std::size_t ends = 0;
    for (const std::string& line : job::lines(result.err)) ends += line.starts_with("oshrun: waiting were: ") ? 0 : 1;
    expect(ends <= 1, "global_exit(0) beside exit(37): at most one line about the end", result);
  }
}

void a_line_that_comes_late_is_not_lost() {
  expect_one_error_line(run(2, {"end_while_one_writes"}), "the end of another PE while the line is written", "pe 0/2");
}

// Whether PEs sleep or spin in the barrier.
void a_wait_that_takes_too_long_is_reported() {
  for (const char* wait : {"SHMEM_WAIT=auto", "SHMEM_WAIT=spin"}) {
    const job::Result result = run(3, {"compute_while_others_are_in_a_barrier"}, {"SHMEM_WATCHDOG=1:abort", wait}, 25);
    expect(result.status == 1, std::string("the watchdog ends the job, ") + wait, result);
    for (const char* line :
         {"shmem_barrier_all has waited for ", "pe 0, 1 (pid ", ": waiting in shmem_barrier_all, called at main",
          "pe 2 (pid ", ": computing", "pe 2 is the only one that is not in shmem_barrier_all",
          "shmem_barrier_all: waits for longer than SHMEM_WATCHDOG=1:abort; called at main"})
      expect(result.err.find(line) != std::string::npos, std::string("the watchdog says: ") + line, result);
  }
}

// Of a fault, and of abort(), whose handlers end in the same signal as without them.
void a_crash_shows_its_calls() {
  const struct {
    const char* what;
    const char* signal;
    int status;
  } crashes[] = {{"segv_while_others_wait", "signal 11 (Segmentation fault)", 139},
                 {"abort_while_others_are_in_a_barrier", "signal 6 (Aborted)", 134}};
  for (const auto& crash : crashes) {
    const job::Result result = run(3, {crash.what}, {"SHMEM_BACKTRACE=1"}, 25);
    expect(result.status == crash.status, std::string(crash.what) + ": keeps its status", result);
    for (const char* words : {crash.signal, "the calls, innermost first:", "shmemx warning:   main"})
      expect(result.err.find(words) != std::string::npos, std::string(crash.what) + " says: " + words, result);
    expect(result.err.find("SHMEM_BACKTRACE=1 shows") == std::string::npos, "no hint where it is set", result);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  oshrun = argv[1];
  program = argv[3];
  global_exit_ends_pes_wherever_they_are();
  one_of_several_statuses_wins();
  statuses_are_kept();
  an_early_end_of_one_pe_ends_all();
  a_silent_end_of_one_pe_is_reported();
  a_pe_that_never_starts_is_reported();
  a_race_of_ends_has_one_winner();
  a_line_that_comes_late_is_not_lost();
  a_wait_that_takes_too_long_is_reported();
  a_crash_shows_its_calls();
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
