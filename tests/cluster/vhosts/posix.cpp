#include "posix.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <cstring>

namespace vhosts {

void write_file(const std::string& path, const std::string& text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  check(fd.get(), "open " + path);
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw std::system_error(errno, std::generic_category(), "write " + path);
  }
}

std::string read_file(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[4096];
  for (ssize_t n; fd.valid() && (n = ::read(fd.get(), buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  return text;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& text : strings) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

void run_program(const std::vector<std::string>& argv, const std::string& input) {
  int ends[2];
  check(::pipe2(ends, O_CLOEXEC), "pipe");
  Fd reading(ends[0]), writing(ends[1]);
  const std::vector<char*> arguments = pointers(argv);
  const pid_t pid = check(::fork(), "fork");
  if (pid == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(reading.get(), STDIN_FILENO);
    ::execvp(arguments[0], arguments.data());
    _exit(127);
  }
  reading.reset();
  // Shorter than a pipe's buffer, so the write does not block even if the program never reads.
  if (::write(writing.get(), input.data(), input.size()) < 0 && errno != EPIPE) check(-1, "write to " + argv[0]);
  writing.reset();
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    throw NotAllowed("the program '" + argv[0] + "' is not installed");
  }
  if (status != 0) throw Failure(argv[0] + " failed: " + describe_status(status) + "; its input was\n" + input);
}

std::string describe_status(int wait_status) {
  if (WIFEXITED(wait_status)) return "exit status " + std::to_string(WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

int exit_code_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

double now_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace vhosts
