#include "spawn.hpp"

#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

namespace shmemx::launcher {
namespace {

// Shared by parent and child while vfork suspends the parent.
struct Outcome {
  volatile int error = 0;
  const char* volatile action = "run";
};

[[noreturn]] void give_up(Outcome& outcome, const char* action) {
  outcome.error = errno;
  outcome.action = action;
  ::_exit(127);
}

// Runs a script without "#!" in the shell, as execvp does.
void run_by_shell(const SpawnSpec& spec, char** room) {
  std::size_t n = 0;
  static char shell[] = "/bin/sh";
  room[n++] = shell;
  room[n++] = const_cast<char*>(spec.path);
  for (char* const* argument = spec.arguments + 1; *argument != nullptr; ++argument) room[n++] = *argument;
  room[n] = nullptr;
  ::execve(shell, room, spec.environment);
}

// Runs in the child between vfork and exec. Makes system calls only, since it shares the parent's memory.
[[noreturn]] void become(const SpawnSpec& spec, pid_t parent, Outcome& outcome, char** room) {
  if (spec.own_session) {
    ::setsid();
    if (spec.terminal >= 0) ::ioctl(spec.terminal, TIOCSCTTY, 0);
  } else {
    ::setpgid(0, 0);
  }
  spec.group->store(::getpid(),
                    std::memory_order_relaxed);  // the guard reads it after oshrun's death, which the kernel orders
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // oshrun died before the line above took effect
  for (int fd = 0; fd < 3; ++fd) {
    if (spec.standard_files[fd] != fd && ::dup2(spec.standard_files[fd], fd) < 0)
      give_up(outcome, "give standard files to");
  }
  if (spec.open_files != nullptr) ::setrlimit(RLIMIT_NOFILE, spec.open_files);
  if (spec.cpus != nullptr && ::sched_setaffinity(0, spec.cpus_bytes, spec.cpus) != 0) give_up(outcome, "bind");
  if (spec.directory != nullptr && ::chdir(spec.directory) != 0) give_up(outcome, "change to the directory of");
  ::sigprocmask(SIG_SETMASK, spec.signals, nullptr);
  ::execve(spec.path, spec.arguments, spec.environment);
  if (errno == ENOEXEC) run_by_shell(spec, room);
  give_up(outcome, "run");
}

bool is_program(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return false;
  if (S_ISDIR(about.st_mode)) {
    errno = EISDIR;
    return false;
  }
  return ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Spawned spawn(const SpawnSpec& spec) {
  std::size_t n_arguments = 0;
  while (spec.arguments[n_arguments] != nullptr) ++n_arguments;
  std::vector<char*> room(n_arguments + 3);
  Outcome outcome;
  const pid_t parent = ::getpid();
  const pid_t pid = ::vfork();
  if (pid == 0) become(spec, parent, outcome, room.data());
  if (pid < 0) return {-1, errno, "start a process for"};
  return {pid, outcome.error, outcome.action};
}

bool can_enter(const std::string& directory) {
  struct stat about {};
  if (::stat(directory.c_str(), &about) != 0) return false;
  if (!S_ISDIR(about.st_mode)) {
    errno = ENOTDIR;
    return false;
  }
  return ::access(directory.c_str(), X_OK) == 0;
}

std::string find_program(const std::string& program, const std::string& directory) {
  if (program.find('/') != std::string::npos) {
    const bool relative = program[0] != '/' && !directory.empty();
    return is_program(relative ? directory + "/" + program : program) ? program : std::string();
  }
  const char* variable = std::getenv("PATH");
  const std::string path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  int worst = ENOENT;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const std::string folder = path.substr(at, end - at);
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + program;
    if (is_program(candidate)) return candidate;
    if (errno != ENOENT && errno != ENOTDIR) worst = errno;
    at = end + 1;
  }
  errno = worst;
  return {};
}

}  // namespace shmemx::launcher
