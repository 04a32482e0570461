#include "job.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "leaks.hpp"

namespace job {
namespace {

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  }
  ~Pipe() {
    close_write();
    close(ends[0]);
  }
  void close_write() {
    if (ends[1] >= 0) close(ends[1]);
    ends[1] = -1;
  }
};

[[noreturn]] void become(const Spec& spec, const Pipe& out, const Pipe& err) {
  dup2(out.ends[1], 1);
  dup2(err.ends[1], 2);
  setenv("OSHRUN_QUIET", "1", 0);  // oshrun's notes depend on the number of cores; tests compare lines
  // PEs are killed here on purpose, so core dumps are off. A command may raise the soft limit again.
  rlimit dumps{};
  getrlimit(RLIMIT_CORE, &dumps);
  dumps.rlim_cur = 0;
  setrlimit(RLIMIT_CORE, &dumps);
  for (const std::string& entry : spec.environment) putenv(const_cast<char*>(entry.c_str()));
  std::vector<char*> words;
  for (const std::string& word : spec.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

// Reads what is available. Returns false at the end of the stream.
bool drain(int fd, std::string& text) {
  char buffer[4096];
  const ssize_t n = read(fd, buffer, sizeof buffer);
  if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
  return n > 0;
}

void watch(const Spec& spec, pid_t launcher, Pipe& out, Pipe& err, Result& result) {
  const double deadline = now() + spec.limit_seconds;
  std::size_t reported = 0;
  bool launcher_ended = false;
  pollfd fds[2] = {{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}};
  for (double quiet_until = deadline; fds[0].fd >= 0 || fds[1].fd >= 0;) {
    const int ready = poll(fds, 2, 20);
    if (fds[0].revents != 0 && !drain(out.ends[0], result.out)) fds[0].fd = -1;
    if (fds[1].revents != 0 && !drain(err.ends[0], result.err)) fds[1].fd = -1;
    for (std::size_t end; spec.on_line && (end = result.out.find('\n', reported)) != std::string::npos;) {
      spec.on_line(launcher, result.out.substr(reported, end - reported));
      reported = end + 1;
    }
    siginfo_t info = {};
    if (!launcher_ended && waitid(P_PID, static_cast<id_t>(launcher), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == launcher) {
      launcher_ended = true;
      quiet_until = now() + 2.5;  // processes that the job has left behind may hold the pipes open
    }
    if (ready == 0 && now() > (launcher_ended ? quiet_until : deadline)) break;
    if (now() > deadline) break;
  }
  if (!launcher_ended && now() > deadline) {
    result.timed_out = true;
    kill(launcher, SIGKILL);
  }
}

}  // namespace

Result run(const Spec& spec) {
  Result result;
  static const bool prepared = [&spec] {
    leaks::try_isolate(spec.command);
    leaks::adopt_orphans();
    return true;
  }();
  (void)prepared;
  leaks::use_private_tmp();
  const leaks::Snapshot before = leaks::take_snapshot();
  Pipe out, err;
  const double start = now();
  const pid_t launcher = fork();
  if (launcher == 0) become(spec, out, err);
  out.close_write();
  err.close_write();
  watch(spec, launcher, out, err, result);
  int status = 0;
  waitpid(launcher, &status, 0);
  result.seconds = now() - start;
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (spec.check_leaks) {
    result.leaks = leaks::stray_processes(2.0);
    for (const std::string& line : leaks::new_names(before)) result.leaks.push_back(line);
  }
  leaks::remove_private_tmp();
  return result;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) all.push_back(line);
  return all;
}

std::string diagnostic_error(const Result& result, const std::vector<const char*>& words, bool only) {
  if (result.timed_out) return "the job did not end";
  if (result.signal != 0 || result.status == 0 || result.status >= 128) return "the job should end with a status";
  const std::vector<std::string> found = lines(result.err);
  if (only && found.size() != 1) return "expected one line, found " + std::to_string(found.size());
  const auto holds_all = [&](const std::string& line) {
    return std::all_of(words.begin(), words.end(), [&](const char* word) { return line.find(word) != line.npos; });
  };
  if (std::none_of(found.begin(), found.end(), holds_all)) {
    std::string missing = "no line contains";
    for (const char* word : words) missing += std::string(" \"") + word + '"';
    return missing;
  }
  return result.leaks.empty() ? "" : result.leaks.front();
}

}  // namespace job

namespace job_check {

void expect(bool ok, const std::string& what, const job::Result& result) {
  ++checks;
  if (ok) return;
  ++failures;
  std::fprintf(stderr, "%s: status %d, signal %d, %.2f s%s\n-- stdout\n%s\n-- stderr\n%s\n", what.c_str(),
               result.status, result.signal, result.seconds, result.timed_out ? ", timed out" : "", result.out.c_str(),
               result.err.c_str());
}

}  // namespace job_check
