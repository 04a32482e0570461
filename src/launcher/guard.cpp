#include "guard.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace shmemx::launcher {
namespace {

// Closes all inherited files but `kept`; otherwise a pipeline would not see the end of oshrun's output.
void let_go_of_files(int kept) {
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  ::dup2(kept, STDIN_FILENO);
  (void)::close_range(3, ~0U, 0);
}

[[noreturn]] void stand_guard(int life, std::atomic<pid_t>* groups, std::size_t n_groups) {
  ::setsid();
  ::prctl(PR_SET_NAME, "pe-guard");  // a signal to all processes named oshrun must not end the guard
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  let_go_of_files(life);
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {
  }
  for (std::size_t i = 0; i < n_groups; ++i) {
    if (const pid_t group = groups[i].load(std::memory_order_relaxed); group > 0) ::kill(-group, SIGKILL);
  }
  ::_exit(0);
}

}  // namespace

Result<Guard> Guard::start(std::size_t n_groups) {
  static_assert(std::atomic<pid_t>::is_always_lock_free);
  void* at = ::mmap(nullptr, n_groups * sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return system_error("share memory with the guard process");
  auto* groups = static_cast<std::atomic<pid_t>*>(at);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("make a pipe");
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return system_error("start the guard process");
  if (pid == 0) {
    write_end.reset();
    stand_guard(read_end.get(), groups, n_groups);
  }
  return Guard(groups, n_groups, std::move(write_end), pid);
}

Guard::Guard(Guard&& other) noexcept
    : groups_(std::exchange(other.groups_, nullptr)),
      n_groups_(other.n_groups_),
      life_(std::move(other.life_)),
      pid_(std::exchange(other.pid_, -1)) {}

Guard::~Guard() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  ::munmap(groups_, n_groups_ * sizeof(pid_t));
}

}  // namespace shmemx::launcher
