// leak_check COMMAND...: runs the command, passes its status on, and fails with 99 if it left something behind.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "leaks.hpp"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  leaks::try_isolate(std::vector<std::string>(argv + 1, argv + argc));
  leaks::adopt_orphans();
  leaks::use_private_tmp();
  const leaks::Snapshot before = leaks::take_snapshot();
  const pid_t pid = fork();
  if (pid == 0) {
    execvp(argv[1], argv + 1);
    std::perror(argv[1]);
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  int result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (WIFSIGNALED(status)) std::fprintf(stderr, "leak_check: %s ended by signal %d\n", argv[1], WTERMSIG(status));
  auto lines = leaks::stray_processes(2.0);
  for (const std::string& line : leaks::new_names(before)) lines.push_back(line);
  for (const std::string& line : lines) std::fprintf(stderr, "leak_check: %s\n", line.c_str());
  if (!lines.empty() && result == 0) result = 99;
  leaks::remove_private_tmp();
  return result;
}
