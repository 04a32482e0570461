// Runs a function in a forked child and returns how it ended and what it wrote to stderr.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

namespace shmemx::unit {

struct ChildEnd {
  int status = -1;  // exit status; 128 + signal if a signal ended the child
  std::string text;
};

// Leaves out where a routine was called: in a unit test that is the test.
inline std::string without_places(std::string text) {
  const std::string begin = "; called at ";
  for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
    const std::size_t line_end = std::min(text.find('\n', at), text.size());
    const std::size_t end = std::min(text.find(". Job ended", at), text.find(". Process ended", at));
    text.erase(at, std::min(end, line_end) - at);
  }
  return text;
}

// `run` returns the exit status, unless it ends the child itself. The text is that without places.
template <class Run>
ChildEnd in_child(Run run) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  std::fflush(nullptr);  // or the child prints it again
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::_exit(run());
  }
  ::close(ends[1]);
  ChildEnd end;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    end.text.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  end.text = without_places(std::move(end.text));
  int status = 0;
  if (child > 0 && ::waitpid(child, &status, 0) == child) {
    end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return end;
}

}  // namespace shmemx::unit
