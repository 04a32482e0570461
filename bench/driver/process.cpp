#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "../support/request.hpp"

namespace shmemx::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Sessions are scheduled as groups; a raised weight keeps the cores for this one. Ordinary users may not do that.
void raise_weight_of_session(std::string_view nice) {
  const int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t written = write(fd, nice.data(), nice.size());
  close(fd);
}

[[noreturn]] void become(const Arguments& arguments, int output_fd, int error_fd) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  raise_weight_of_session("-15");
  if (const int null_fd = open("/dev/null", O_RDONLY); null_fd >= 0) dup2(null_fd, STDIN_FILENO);
  dup2(error_fd, STDERR_FILENO);
  dup2(output_fd >= 0 ? output_fd : STDERR_FILENO, STDOUT_FILENO);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  perror(argv[0]);
  _exit(127);
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<Milliseconds>(deadline - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

bool says_something(std::string_view line) {
  static constexpr std::array<std::string_view, 3> kHints{"This typically refers to", "Please see the FAQ",
                                                          "YOU CAN IGNORE THE BELOW"};
  line.remove_prefix(std::min(line.find_first_not_of("= \t"), line.size()));
  return std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isalpha(c) != 0; }) &&
         std::none_of(kHints.begin(), kHints.end(), [&](std::string_view hint) { return line.starts_with(hint); });
}

// Returns what is added to the reason of a failure: the last line of `errors`.
std::string ending_of_reason(const std::string& errors) {
  const std::string line = last_line(errors);
  return line.empty() ? line : ": " + line;
}

// Shows what a program that failed has written.
void show(const std::string& errors) {
  if (!errors.empty()) std::cerr << errors << (errors.back() == '\n' ? "" : "\n");
}

}  // namespace

ErrorOutput::ErrorOutput() {
  FILE* const file = std::tmpfile();
  if (file == nullptr) throw std::runtime_error("there is no room for a temporary file");
  fd_ = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
  std::fclose(file);
  if (fd_ < 0) throw std::runtime_error("no descriptor is free");
}

ErrorOutput::~ErrorOutput() { close(fd_); }

std::string ErrorOutput::tail() const {
  constexpr off_t kBytes = 2000;
  struct stat status {};
  if (fstat(fd_, &status) != 0) return {};
  std::string text(static_cast<std::size_t>(std::min(status.st_size, kBytes)), '\0');
  const ssize_t got = pread(fd_, text.data(), text.size(), status.st_size - static_cast<off_t>(text.size()));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

std::string last_line(const std::string& text) {
  constexpr std::size_t kLongest = 200;
  std::string last;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (says_something(line)) last = line;
  return last.substr(0, kLongest);
}

Child::Child(const Arguments& arguments, int output_fd, int error_fd) {
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) become(arguments, output_fd, error_fd);
}

Child::~Child() {
  if (running()) kill_session();
}

bool Child::running() { return !wait(Milliseconds(0)).has_value(); }

std::optional<int> Child::wait(Milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  while (!status_) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    if (status_ || Clock::now() >= deadline) break;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return status_;
}

// Kills what is left of the child's session. A launcher ends its own PEs on SIGTERM.
void Child::kill_session() {
  kill(pid_, SIGTERM);
  wait(Milliseconds(3000));
  kill(-pid_, SIGKILL);
  wait(Milliseconds(3000));
}

Finished run_once(const Arguments& arguments, Milliseconds limit) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  Finished finished;
  const auto begin = Clock::now();
  const auto deadline = begin + limit;
  const ErrorOutput errors;
  Child child(arguments, ends[1], errors.fd());
  close(ends[1]);
  char block[4096];
  for (;;) {
    pollfd watched{ends[0], POLLIN, 0};
    if (poll(&watched, 1, milliseconds_until(deadline)) <= 0) break;
    const ssize_t got = read(ends[0], block, sizeof block);
    if (got <= 0) break;
    finished.output.append(block, static_cast<std::size_t>(got));
  }
  const auto status = child.wait(Milliseconds(milliseconds_until(deadline)));
  finished.wall_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  close(ends[0]);
  finished.ok = status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
  if (!status)
    finished.why = "did not end within " + std::to_string(limit.count() / 1000) + " s";
  else if (!finished.ok)
    finished.why = (WIFSIGNALED(*status) ? "was ended by signal " + std::to_string(WTERMSIG(*status))
                                         : "ended with status " + std::to_string(WEXITSTATUS(*status)));
  if (!finished.ok) {
    finished.why += ending_of_reason(errors.tail());
    show(errors.tail());
  }
  return finished;
}

ServedJob::ServedJob(Arguments launch, int pes, const std::string& directory, Milliseconds limit)
    : directory_(directory) {
  std::filesystem::create_directories(directory);
  const auto make = [&](const std::string& name) {
    const std::string path = directory + "/" + name;
    if (mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error("mkfifo " + path);
    return open(path.c_str(), O_RDWR | O_CLOEXEC);  // opened for both directions, so that no open() waits for a PE
  };
  for (int pe = 0; pe < pes; ++pe) command_fds_.push_back(make("cmd." + std::to_string(pe)));
  out_fd_ = make("out");
  launch.insert(launch.end(), {"--serve", directory});
  child_.emplace(launch, -1, errors_.fd());
  std::string line;
  if (!next_line(line, Clock::now() + limit) || line != "ready") fail("does not start");
}

ServedJob::~ServedJob() {
  const Request end{-1, 0, 0};
  if (alive_)
    for (const int fd : command_fds_) [[maybe_unused]] const ssize_t written = write(fd, &end, sizeof end);
  child_->wait(Milliseconds(alive_ ? 5000 : 0));
  child_.reset();
  for (const int fd : command_fds_) close(fd);
  close(out_fd_);
}

void ServedJob::fail(std::string why) {
  alive_ = false;
  child_->wait(Milliseconds(0));
  why_ = why + ending_of_reason(errors_.tail());
  show(errors_.tail());
}

bool ServedJob::next_line(std::string& line, Clock::time_point deadline) {
  for (;;) {
    if (const auto end = pending_.find('\n'); end != std::string::npos) {
      line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return true;
    }
    if (Clock::now() >= deadline || !child_->running()) return false;
    pollfd watched{out_fd_, POLLIN, 0};
    if (poll(&watched, 1, 50) <= 0) continue;
    char block[4096];
    const ssize_t got = read(out_fd_, block, sizeof block);
    if (got > 0) pending_.append(block, static_cast<std::size_t>(got));
  }
}

std::vector<std::string> ServedJob::measure(int case_index, int method, double budget_ms, Milliseconds limit) {
  std::vector<std::string> lines;
  if (!alive_) return lines;
  const Request request{case_index, method, budget_ms};
  for (const int fd : command_fds_)
    if (write(fd, &request, sizeof request) != sizeof request) fail("a pipe is full");
  const auto deadline = Clock::now() + limit;
  for (std::string line; next_line(line, deadline);) {
    if (line == "end") return lines;
    lines.push_back(line);
  }
  fail(child_->running() ? "no answer within " + std::to_string(limit.count() / 1000) + " s" : "ended during a case");
  return {};
}

void continue_in_own_session() {
  const pid_t child = fork();
  if (child < 0) return;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setsid();
    raise_weight_of_session("-19");
    return;
  }
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

ScratchDirectory::ScratchDirectory(const std::string& path) : path_(path) {
  std::filesystem::remove_all(path);  // left by a killed run
  std::filesystem::create_directories(path);
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace shmemx::bench
