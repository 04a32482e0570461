// A signal handler, or a handler of an active message, ends the process while a call of the library is under way: the
// job ends, with the status of the handler, or with a line if other PEs still needed this one. A driver, not a PE.
//
// SHMEMX_TEST_RUNS: how often each kind runs, 6 by default.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../support/job.hpp"

namespace {

using job_check::checks;
using job_check::expect;
using job_check::failures;
std::string oshrun, program;

job::Result run(int pes, const std::string& kind, int status, int seed) {
  return job::run({.command = {oshrun, "-q", "-n", std::to_string(pes), "--timeout", "60", program, kind,
                               std::to_string(status), std::to_string(seed)},
                   .limit_seconds = 70});
}

// Lines of a PE that has left in this way, and of others that needed it.
bool is_expected(const std::string& line) {
  for (const char* words :
       {"this PE ends without shmem_finalize", "has ended, and all others wait",
        "is lost: ", "has left the job without shmem_finalize", "exited with status", "oshrun: waiting were: "}) {
    if (line.find(words) != std::string::npos) return true;
  }
  return false;
}

void expect_end(const job::Result& result, const std::string& what, int status) {
  expect(!result.timed_out && result.signal == 0 && result.status != 124, what + ": ends by itself", result);
  expect(result.leaks.empty(), what + ": leaves nothing behind", result);
  const bool is_reported = result.status == 1 && !result.err.empty();
  expect(result.status == status || (status == 0 && is_reported), what + ": has the status of the handler", result);
  for (const std::string& line : job::lines(result.err)) expect(is_expected(line), what + ": " + line, result);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  oshrun = argv[1];
  program = argv[3];
  const char* const asked = std::getenv("SHMEMX_TEST_RUNS");
  const int runs = asked != nullptr ? std::atoi(asked) : 6;
  for (int seed = 0; seed < runs; ++seed) {
    for (const char* kind : {"timer", "barrier", "finalize", "active"}) {
      const int status = seed % 2 == 0 ? 0 : 5;
      expect_end(run(2 + seed % 2, kind, status, seed), std::string(kind) + ", exit(" + std::to_string(status) + ")",
                 status);
    }
  }
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
