// Runs a job as a child process and records how it ended. For tests of errors and abnormal ends.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace job {

struct Result {
  int status = -1;  // exit status, or -1
  int signal = 0;   // signal that ended the launcher, or 0
  double seconds = 0;
  bool timed_out = false;
  std::string out;
  std::string err;
  std::vector<std::string> leaks;
};

struct Spec {
  std::vector<std::string> command;
  std::vector<std::string> environment = {};  // NAME=value, added
  double limit_seconds = 30;
  // Called with the launcher's pid whenever a new line of stdout is complete.
  std::function<void(pid_t launcher, const std::string& line)> on_line = nullptr;
  bool check_leaks = true;
};

Result run(const Spec& spec);

// Returns the lines of a text, without empty ones.
std::vector<std::string> lines(const std::string& text);

// Checks that a job has ended as after misuse: with a status, not by a signal, leaving nothing behind, and with a line
// on stderr that contains all `words`, which is the only line if `only`. Returns what is wrong, or an empty text.
std::string diagnostic_error(const Result& result, const std::vector<const char*>& words, bool only = true);

}  // namespace job

// For drivers that check how jobs end. Not in `job`, since drivers with another report use the same names.
namespace job_check {

// Counts a check; prints how the job went if it failed.
inline int checks = 0;
inline int failures = 0;
void expect(bool ok, const std::string& what, const job::Result& result);

}  // namespace job_check
