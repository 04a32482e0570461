// Starts programs with bounded run time: once with their output, or as a served job that takes orders through pipes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace shmemx::bench {

using Arguments = std::vector<std::string>;
using Milliseconds = std::chrono::milliseconds;

// What a child writes to its standard error, in a file without a name.
class ErrorOutput {
 public:
  ErrorOutput();
  ErrorOutput(const ErrorOutput&) = delete;
  ErrorOutput& operator=(const ErrorOutput&) = delete;
  ~ErrorOutput();

  int fd() const { return fd_; }
  // Returns its last bytes, which may begin within a line.
  std::string tail() const;

 private:
  int fd_ = -1;
};

// Returns the last line of `text` that says something: not a rule of dashes, nor a launcher's hint where to read more.
std::string last_line(const std::string& text);

// A child in a session of its own. The destructor kills it and waits for it.
class Child {
 public:
  // Standard output goes to `output_fd`, or to `error_fd` too if it is -1.
  Child(const Arguments& arguments, int output_fd, int error_fd);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  bool running();
  // Returns the status as from waitpid, or nothing if the child still runs at the deadline.
  std::optional<int> wait(Milliseconds limit);

 private:
  void kill_session();

  pid_t pid_ = -1;
  std::optional<int> status_;
};

struct Finished {
  bool ok = false;
  std::string why;     // set if not ok, with the last line of its standard error
  std::string output;  // its standard output
  double wall_ms = 0;
};

Finished run_once(const Arguments& arguments, Milliseconds limit);

// A bench program under --serve, with all its PEs.
class ServedJob {
 public:
  // `launch` starts the job; the program's own options come last in it.
  ServedJob(Arguments launch, int pes, const std::string& directory, Milliseconds limit);
  ServedJob(const ServedJob&) = delete;
  ServedJob& operator=(const ServedJob&) = delete;
  ~ServedJob();

  bool alive() const { return alive_; }
  const std::string& why() const { return why_; }

  // Returns the CSV lines of one case; empty if nothing was measured.
  std::vector<std::string> measure(int case_index, int method, double budget_ms, Milliseconds limit);

 private:
  // Adds the last line that the program has written.
  void fail(std::string why);
  bool next_line(std::string& line, std::chrono::steady_clock::time_point deadline);

  std::string directory_;
  std::vector<int> command_fds_;
  int out_fd_ = -1;
  std::string pending_;
  bool alive_ = true;
  std::string why_;
  ErrorOutput errors_;
  std::optional<Child> child_;
};

// Continues in a session of its own, with raised weight if allowed: a driver without CPU time delays its jobs. The
// calling process only passes on the exit status.
void continue_in_own_session();

// An empty directory, removed with its contents at the end.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(const std::string& path);
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace shmemx::bench
