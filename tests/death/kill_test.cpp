// SIGKILL of a PE, or signals to oshrun, at many points. All PEs have ended within two seconds, to which a busy machine
// may add some, the message names the killed PE, nothing is left on the machine. A driver, not a PE. The argument `few`
// selects a part of the points, `crowd` many PEs.
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "../support/job.hpp"

namespace {

using job_check::checks;
using job_check::expect;
using job_check::failures;
std::string oshrun, program;

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

constexpr double kAllGoneSeconds = 2;
constexpr double kBusySeconds = 10;

int n_pes = 4;

// Starts the job, waits until all PEs are in the state, pauses, then lets `strike` act on the launcher and one PE.
template <class Strike>
job::Result strike_in(const std::string& state, int victim, int pause_us, const Strike& strike, double& struck_at) {
  std::vector<pid_t> pids;
  pid_t victim_pid = 0;
  job::Spec spec;
  spec.command = {oshrun, "-n", std::to_string(n_pes), "--timeout", "60", program, state};
  spec.limit_seconds = 40;
  spec.on_line = [&](pid_t launcher, const std::string& line) {
    char pe[16] = "";
    int pid = 0;
    if (std::sscanf(line.c_str(), "ready %15s %d", pe, &pid) != 2) return;
    pids.push_back(pid);
    if (std::atoi(pe) == victim) victim_pid = pid;
    if (pids.size() != static_cast<std::size_t>(n_pes)) return;
    std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
    struck_at = now();
    strike(launcher, victim_pid);
  };
  return job::run(spec);
}

void check_end(const std::string& what, double struck_at, const job::Result& result) {
  expect(struck_at > 0, what + ": the PEs reached the state", result);
  expect(!result.timed_out && now() - struck_at < kAllGoneSeconds + kBusySeconds,
         what + ": all PEs have ended within two seconds", result);
  for (const std::string& leak : result.leaks) expect(false, what + ": " + leak, result);
}

void kill_a_pe(const std::vector<const char*>& states, const std::vector<int>& pauses_us) {
  for (const char* state : states) {
    for (const int pause_us : pauses_us) {
      const int victim = pause_us == 0 ? 1 : pause_us == 1500 ? n_pes - 1 : 0;
      const std::string what =
          std::string("SIGKILL of a PE, state ") + state + " after " + std::to_string(pause_us) + " us";
      double struck_at = 0;
      pid_t dead = 0;
      const job::Result result = strike_in(
          state, victim, pause_us,
          [&](pid_t, pid_t pid) {
            dead = pid;
            kill(pid, SIGKILL);
          },
          struck_at);
      check_end(what, struck_at, result);
      expect(result.status == 128 + SIGKILL, what + ": the status holds the signal", result);
      expect(result.err.find(std::to_string(dead)) != std::string::npos ||
                 result.err.find("pe " + std::to_string(victim)) != std::string::npos ||
                 result.err.find("PE " + std::to_string(victim)) != std::string::npos,
             what + ": the line names the PE", result);
    }
  }
}

void signal_the_launcher() {
  for (const char* state : {"barrier", "wait", "compute", "init"}) {
    for (const int number : {SIGKILL, SIGTERM, SIGINT, SIGHUP}) {
      const std::string what = std::string("signal ") + std::to_string(number) + " to oshrun, state " + state;
      double struck_at = 0;
      const job::Result result = strike_in(
          state, 0, 1000, [&](pid_t launcher, pid_t) { kill(launcher, number); }, struck_at);
      check_end(what, struck_at, result);
      expect(result.status != 0, what + ": not a success", result);
      if (number == SIGKILL) expect(result.signal == SIGKILL, what + ": oshrun is dead", result);
    }
  }
}

// Both at once: neither oshrun nor the killed PE can clean up.
void kill_oshrun_and_pe() {
  for (int round = 0; round < 3; ++round) {
    double struck_at = 0;
    const job::Result result = strike_in(
        "quiet", 2, round * 700,
        [](pid_t launcher, pid_t pid) {
          kill(pid, SIGKILL);
          kill(launcher, SIGKILL);
        },
        struck_at);
    check_end("SIGKILL of oshrun and a PE", struck_at, result);
  }
}

// At fixed delays, between the start of the launcher and the end of the job.
void kill_at_any_moment() {
  for (int delay_us = 500; delay_us < 40000; delay_us += 2300) {
    job::Spec spec;
    spec.command = {oshrun, "-n", std::to_string(n_pes), "--timeout", "60", program, "finalize_then_status", "0"};
    spec.limit_seconds = 40;
    std::string script =
        "\"$@\" & child=$!; sleep " + std::to_string(delay_us / 1e6) + "; kill -9 $child 2>/dev/null; wait $child";
    spec.command.insert(spec.command.begin(), {"/bin/sh", "-c", script, "sh"});
    const job::Result result = job::run(spec);
    expect(!result.timed_out, "SIGKILL of oshrun after " + std::to_string(delay_us) + " us: the job ends", result);
    for (const std::string& leak : result.leaks)
      expect(false, "SIGKILL at " + std::to_string(delay_us) + " us: " + leak, result);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  oshrun = argv[1];
  program = argv[3];
  if (argc > 4 && std::strcmp(argv[4], "crowd") == 0) {
    n_pes = 64;
    kill_a_pe({"barrier", "reduce", "window_lock"}, {0, 1500, 60000});
  } else if (argc > 4 && std::strcmp(argv[4], "few") == 0) {
    kill_a_pe({"barrier", "wait", "quiet", "stream", "lock", "reduce", "get", "compute"}, {1500, 60000});
    kill_oshrun_and_pe();
  } else {
    kill_a_pe({"barrier", "wait", "quiet", "stream", "lock", "window_lock", "reduce", "get", "malloc", "compute",
               "finalize", "init"},
              {0, 1500, 60000});
    signal_the_launcher();
    kill_oshrun_and_pe();
    kill_at_any_moment();
  }
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
