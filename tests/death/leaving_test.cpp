// PEs that end without shmem_finalize, on the path that the environment selects. Programs that the standard allows
// complete. An end that leaves other PEs waiting ends the job with one line, and statuses are kept. A driver, not a PE.
#include <cstdio>
#include <string>
#include <vector>

#include "../support/job.hpp"

namespace {

using job_check::checks;
using job_check::expect;
using job_check::failures;
std::string oshrun, program;
bool few = false;  // fewer PEs and runs, for networks that take long to start

job::Result run(int pes, const std::string& scenario, const std::string& argument = "0",
                const std::vector<std::string>& environment = {}) {
  const job::Result result =
      job::run({.command = {oshrun, "-n", std::to_string(pes), "--timeout", "60", program, scenario, argument},
                .environment = environment,
                .limit_seconds = 70});
  expect(!result.timed_out && result.signal == 0, scenario + ": ends by itself", result);
  for (const std::string& leak : result.leaks) expect(false, scenario + ": " + leak, result);
  return result;
}

void expect_success(const job::Result& result, const std::string& what) {
  expect(result.status == 0 && result.err.empty(), what + ": is no error", result);
}

// With many PEs, in most runs some are still in the last barrier when others have ended. Hence several runs.
void many_return_from_main() {
  const int runs = few ? 1 : 15;
  for (int i = 0; i < runs; ++i)
    expect_success(run(few ? 6 : 20, "return_after_collectives"), "return_after_collectives");
}

void traffic_completes() {
  for (const char* scenario :
       {"use_pe_that_returns", "put_and_return", "finalize_on_some", "leave_in_finalize", "finalize_twice"})
    expect_success(run(3, scenario), scenario);
}

void an_extra_finalize_is_reported_in_debug_mode() {
  const job::Result result = run(2, "finalize_twice", "0", {"SHMEM_DEBUG=1"});
  expect(
      result.status == 0 && result.err.find("shmem_finalize: called more often than shmem_init") != std::string::npos,
      "finalize_twice, SHMEM_DEBUG=1: a line", result);
}

void those_that_wait_say_so() {
  for (const char* scenario :
       {"leave_in_barrier", "leave_in_reduce", "leave_in_broadcast", "leave_in_malloc", "leave_at_once"}) {
    const job::Result result = run(3, scenario);
    expect(result.status == 1, std::string(scenario) + ": is an error", result);
    const auto lines = job::lines(result.err);
    expect(lines.size() == 1 && lines[0].find("PE 2 has left the job") != std::string::npos,
           std::string(scenario) + ": one line names the PE", result);
  }
}

void statuses_are_kept() {
  for (const char* scenario : {"exit_of_one", "exit_while_others_are_in_a_barrier"}) {
    const job::Result result = run(3, scenario, "7");
    expect(result.status == 7, std::string(scenario) + ": the job's status is that of the PE", result);
    expect(result.err.find(") exited with status 7; job ended") != std::string::npos,
           std::string(scenario) + ": oshrun reports it", result);
  }
  for (const int status : {0, 6}) {
    const job::Result result = run(3, "global_exit_barrier", std::to_string(status));
    expect(result.status == status && result.err.empty(), "global_exit keeps its status", result);
  }
  for (const int status : {256, -256}) {
    const job::Result result = run(3, "global_exit_barrier", std::to_string(status));
    expect(result.status == 1 && result.err.empty(), "global_exit(256) is no success", result);
  }
}

void locks_of_streams_are_not_waited_for() {
  for (const char* scenario : {"global_exit_beside_reader", "exit_beside_reader"}) {
    const job::Result result = run(2, scenario, "3");
    expect(result.status == 3, std::string(scenario) + ": status", result);
    expect(result.out.find("text of pe 1") != std::string::npos, std::string(scenario) + ": output is kept", result);
  }
  const job::Result result = run(2, "misuse_beside_printer");
  expect(result.status == 1 && result.err.find("shmem_long_p: argument 'pe' is 2") != std::string::npos,
         "misuse_beside_printer: the line", result);
}

void stuck_end_is_cut_short() {
  const job::Result result = run(2, "global_exit_with_stuck_handler", "5");
  expect(result.status == 5 && result.err.empty(), "global_exit_with_stuck_handler: status", result);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  oshrun = argv[1];
  program = argv[3];
  few = argc > 4;
  many_return_from_main();
  traffic_completes();
  an_extra_finalize_is_reported_in_debug_mode();
  those_that_wait_say_so();
  statuses_are_kept();
  locks_of_streams_are_not_waited_for();
  stuck_end_is_cut_short();
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
