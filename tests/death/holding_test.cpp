// A PE that ends while it holds the lock of a window, for which others wait. A driver, not a PE.
#include <algorithm>
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

job::Result run(const std::string& how, const std::string& kind = "exclusive") {
  job::Result result =
      job::run({.command = {oshrun, "-n", "3", "--timeout", "60", program, how, kind}, .limit_seconds = 70});
  expect(!result.timed_out && result.signal == 0, how + ": ends by itself", result);
  for (const std::string& leak : result.leaks) expect(false, how + ": " + leak, result);
  return result;
}

// The others get the lock, and a line says why.
void an_orderly_end_releases_it() {
  for (const char* how : {"finalize", "return"}) {
    for (const char* kind : {"exclusive", "shared"}) {
      const job::Result result = run(how, kind);
      const std::string what = std::string(how) + " with a lock, " + kind;
      const auto granted = job::lines(result.out);
      expect(result.status == 0, what + ": is no error", result);
      expect(std::count(granted.begin(), granted.end(), "granted") == 2, what + ": the others get it", result);
      const auto lines = job::lines(result.err);
      expect(lines.size() == 1 && lines[0].find("still held the lock of a window of PE 0") != std::string::npos,
             what + ": one warning", result);
    }
  }
}

void any_other_end_is_that_of_the_job() {
  const struct {
    const char* how;
    int status;
    const char* named;
  } kEnds[] = {{"kill", 128 + SIGKILL, "pe 2"}, {"exit", 3, "pe 2"}, {"vanish", 1, "PE 2"}};
  for (const auto& end : kEnds) {
    const job::Result result = run(end.how);
    const std::string what = std::string(end.how) + " with a lock";
    expect(result.status == end.status, what + ": the status", result);
    expect(job::lines(result.out).empty(), what + ": nobody gets the lock", result);
    expect(result.err.find(end.named) != std::string::npos, what + ": the PE is named", result);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  oshrun = argv[1];
  program = argv[4];
  an_orderly_end_releases_it();
  any_other_end_is_that_of_the_job();
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
