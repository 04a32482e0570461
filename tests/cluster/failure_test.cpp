// failure_test VHOSTS FAILURE_PE FAULT watched|unwatched|pretended [PHASE...]: jobs on 2 hosts x 2 PEs in which a PE or
// host fails, in every phase. The job ends by itself with an error and one line that names PE, host and cause, and
// leaves nothing on any host.
//   unwatched  the launcher ignores ends of PEs, so the PEs must detect them over the network
//   pretended  the same on one host with two pretended nodes, for networks that need a common PID namespace: no line
//   may
//              name any PE but the last one
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "../support/job.hpp"

namespace {

constexpr int kPesOfHost = 2;
constexpr int kHosts = 2;
constexpr int kPes = kHosts * kPesOfHost;
constexpr std::size_t kSideBySide = 3;
constexpr int kTimeoutCode = 124;
constexpr int kLeftBehindCode = 99;
constexpr int kSkippedCode = 77;
constexpr double kNoticedSeconds = 18;  // several times what it takes

int failures = 0;

struct Fall {
  std::string fault;
  std::string mode;
  std::string phase;

  bool is_pretended() const { return mode == "pretended"; }
};

void expect(bool ok, const Fall& fall, const std::string& what, const job::Result& result) {
  if (ok) return;
  ++failures;
  std::fprintf(stderr, "FAILED: %s, %s, in phase %s: %s: status %d, signal %d\n-- stderr\n%s\n", fall.fault.c_str(),
               fall.mode.c_str(), fall.phase.c_str(), what.c_str(), result.status, result.signal, result.err.c_str());
}

// Lines that name a PE, its host, and a cause. Both ends of a cut link report it.
int count_reports(const std::string& text, const Fall& fall) {
  static const std::regex report("[Pp][Ee] ([0-9]+) on (?:host )?h([0-9]+) [a-z ]+: (\\S.*)");
  const bool both_ends = fall.fault.find("cut") == 0;
  int count = 0;
  for (const std::string& line : job::lines(text)) {
    std::smatch parts;
    if (!std::regex_search(line, parts, report)) continue;
    const int pe = std::stoi(parts[1]), host = std::stoi(parts[2]);
    const bool is_named = fall.is_pretended() ? pe == kPes - 1 && host == 0
                                              : pe / kPesOfHost == host && (both_ends || host == kHosts - 1);
    if (is_named) ++count;
  }
  return count;
}

// Lines by which the job ends.
int count_ends(const std::string& text) {
  int count = 0;
  for (const std::string& line : job::lines(text)) {
    if (line.find("Job ended") != std::string::npos) ++count;
  }
  return count;
}

job::Spec spec_of(const Fall& fall, const std::string& vhosts, const std::string& program) {
  job::Spec spec;
  const std::vector<std::string> hosts =
      fall.is_pretended() ? std::vector<std::string>{"--hosts", "1", "--pes", std::to_string(kPes)}
                          : std::vector<std::string>{"--hosts", "2", "--pes", std::to_string(kPesOfHost)};
  spec.command = {vhosts, "run"};
  spec.command.insert(spec.command.end(), hosts.begin(), hosts.end());
  for (const char* const word : {"--timeout", "20"}) spec.command.push_back(word);
  if (fall.mode != "watched") spec.command.push_back("--no-watch");
  for (const std::string& word : {std::string("--"), program, fall.phase, fall.fault}) spec.command.push_back(word);
  spec.environment = {"SHMEMX_NET_TIMEOUT=2"};
  if (fall.is_pretended()) spec.environment.push_back("SHMEMX_PES_PER_NODE=" + std::to_string(kPesOfHost));
  spec.limit_seconds = 40;
  return spec;
}

void run(const Fall& fall, const std::string& vhosts, const std::string& program) {
  const job::Result result = job::run(spec_of(fall, vhosts, program));
  if (result.status == kSkippedCode) {
    std::fprintf(stderr, "%s", result.err.c_str());
    std::exit(kSkippedCode);
  }
  std::printf("%s, %s, %s: status %d after %.2f s\n", fall.fault.c_str(), fall.mode.c_str(), fall.phase.c_str(),
              result.status, result.seconds);
  expect(!result.timed_out && result.status != kTimeoutCode, fall, "the job ends", result);
  expect(result.status != 0, fall, "the job does not end well", result);
  expect(result.status != kLeftBehindCode, fall, "nothing is left", result);
  const int reports = count_reports(result.err, fall);
  if (fall.is_pretended()) expect(count_ends(result.err) == reports, fall, "every line names the PE", result);
  expect(reports >= 1, fall, "a line names PE, host and cause", result);
  expect(reports <= kHosts, fall, "a host says it once", result);
  if (fall.fault == "fork")
    expect(result.seconds < kNoticedSeconds, fall, "the end of a PE is noticed although its child lives", result);
  for (const std::string& leak : result.leaks) expect(false, fall, leak, result);
}

// Runs every phase in a process of its own, a few at a time, since they mostly wait. Returns the status of the test.
int run_side_by_side(const std::vector<std::string>& phases, const std::function<void(const std::string&)>& run_phase) {
  std::size_t started = 0, ended = 0;
  int status = 0;
  while (ended < phases.size()) {
    if (started < phases.size() && started < ended + kSideBySide) {
      const pid_t child = fork();
      if (child < 0) return 1;
      if (child == 0) {
        run_phase(phases[started]);
        std::exit(failures == 0 ? 0 : 1);
      }
      ++started;
      continue;
    }
    int how = 0;
    if (wait(&how) < 0) return 1;
    ++ended;
    const int code = WIFEXITED(how) ? WEXITSTATUS(how) : 1;
    if (code != 0 && status != 1) status = code == kSkippedCode ? code : 1;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::string vhosts = argv[1], program = argv[2], fault = argv[3], mode = argv[4];
  std::vector<std::string> phases(argv + 5, argv + argc);
  if (phases.empty()) {
    phases = {"connect",    "put",     "put_nbi",    "get",  "quiet",  "atomic",
              "wait_until", "barrier", "collective", "lock", "malloc", "finalize"};
    // Only the launcher knows a PE that has not entered shmem_init.
    if (mode == "watched" && fault.find("cut") != 0) phases.insert(phases.begin(), "init");
  }
  return run_side_by_side(phases, [&](const std::string& phase) { run({fault, mode, phase}, vhosts, program); });
}
