#include "waiting_reader.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace shmemx::launcher {
namespace {

constexpr std::size_t kMostProcesses = 256;
constexpr std::size_t kMostFiles = 64;  // of one poll

std::string directory_of(pid_t process) { return "/proc/" + std::to_string(process); }

// Returns the text of a small file, and its errno if it cannot be read.
std::string read_text(const std::string& path, int& error) {
  std::string text(4096, '\0');
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = fd < 0 ? -1 : ::read(fd, text.data(), text.size());
  error = bytes < 0 ? errno : 0;
  if (fd >= 0) ::close(fd);
  text.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  return text;
}

// One process that is looked at, and the terminal.
struct Suspect {
  pid_t process;
  dev_t terminal;

  // A file opened as /dev/tty has that name's number; in processes of a PE it is the same terminal.
  bool is_terminal(long fd) const {
    struct stat about {};
    const std::string path = directory_of(process) + "/fd/" + std::to_string(fd);
    if (::stat(path.c_str(), &about) != 0 || !S_ISCHR(about.st_mode)) return false;
    return about.st_rdev == terminal || about.st_rdev == makedev(5, 0);
  }
  bool copy(unsigned long from, void* to, std::size_t bytes) const {
    const iovec local{to, bytes};
    const iovec remote{reinterpret_cast<void*>(from), bytes};
    return ::process_vm_readv(process, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
  }
  bool polls(unsigned long list, unsigned long count) const {
    pollfd files[kMostFiles];
    const std::size_t n = std::min<std::size_t>(count, kMostFiles);
    if (!copy(list, files, n * sizeof *files)) return false;
    return std::any_of(files, files + n, [&](const pollfd& file) {
      return (file.events & (POLLIN | POLLRDNORM)) != 0 && file.fd >= 0 && is_terminal(file.fd);
    });
  }
  bool selects(unsigned long count, unsigned long set) const {
    fd_set files;
    FD_ZERO(&files);
    const std::size_t n = std::min<std::size_t>(count, FD_SETSIZE);
    const std::size_t bytes = (n + 8 * sizeof(long) - 1) / (8 * sizeof(long)) * sizeof(long);
    if (set == 0 || !copy(set, &files, bytes)) return false;
    for (std::size_t fd = 0; fd < n; ++fd) {
      if (FD_ISSET(fd, &files) && is_terminal(static_cast<long>(fd))) return true;
    }
    return false;
  }
  bool awaits_events(unsigned long epoll) const {
    int error = 0;
    const std::string text = read_text(directory_of(process) + "/fdinfo/" + std::to_string(epoll), error);
    for (std::size_t at = text.find("tfd:"); at != std::string::npos; at = text.find("tfd:", at + 4)) {
      if (is_terminal(std::strtol(text.c_str() + at + 4, nullptr, 10))) return true;
    }
    return false;
  }
  bool has_nonblocking_input() const {
    if (!is_terminal(STDIN_FILENO)) return false;
    int error = 0;
    const std::string text = read_text(directory_of(process) + "/fdinfo/0", error);
    const std::size_t at = text.find("flags:");
    return at != std::string::npos && (std::strtoul(text.c_str() + at + 6, nullptr, 8) & O_NONBLOCK) != 0;
  }
};

// `call` is a line of /proc/PID/task/TID/syscall: the number of the system call that the thread is in, and its
// arguments; other words if it runs.
bool waits_in(const Suspect& suspect, const std::string& call) {
  long number = -1;
  unsigned long first = 0;
  unsigned long second = 0;
  if (std::sscanf(call.c_str(), "%ld %lx %lx", &number, &first, &second) != 3) return false;
  switch (number) {
    case SYS_read:
    case SYS_readv:
      return suspect.is_terminal(static_cast<long>(first));
#ifdef SYS_poll
    case SYS_poll:
#endif
    case SYS_ppoll:
      return suspect.polls(first, second);
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6:
      return suspect.selects(first, second);
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait:
      return suspect.awaits_events(first);
    default:
      return false;
  }
}

std::vector<std::string> tasks_of(pid_t process) {
  std::vector<std::string> tasks;
  const std::string path = directory_of(process) + "/task";
  DIR* const directory = ::opendir(path.c_str());
  if (directory == nullptr) return tasks;
  while (const dirent* const entry = ::readdir(directory)) {
    if (entry->d_name[0] != '.') tasks.push_back(path + "/" + entry->d_name);
  }
  ::closedir(directory);
  return tasks;
}

// Returns false for a process that is ending or has ended. Such ones belong to root in /proc.
bool has_memory(pid_t process) {
  int error = 0;
  return std::strtol(read_text(directory_of(process) + "/statm", error).c_str(), nullptr, 10) != 0;
}

// Looks at one process and adds those that it has started to `processes`.
Reading look_at(const Suspect& suspect, std::vector<pid_t>& processes) {
  if (suspect.has_nonblocking_input()) return Reading::yes;
  for (const std::string& task : tasks_of(suspect.process)) {
    int error = 0;
    const std::string call = read_text(task + "/syscall", error);
    if (error == EACCES || error == EPERM || (error == ENOENT && ::access(task.c_str(), F_OK) == 0))
      return has_memory(suspect.process) ? Reading::unknown : Reading::no;
    if (waits_in(suspect, call)) return Reading::yes;
    const std::string children = read_text(task + "/children", error);
    for (const char* at = children.c_str(); *at != '\0';) {
      char* end = nullptr;
      const long child = std::strtol(at, &end, 10);
      if (end == at) break;
      if (child > 0 && processes.size() < kMostProcesses) processes.push_back(static_cast<pid_t>(child));
      at = *end == ' ' ? end + 1 : end;
    }
  }
  return Reading::no;
}

}  // namespace

Reading reads_terminal(pid_t process, dev_t terminal) {
  std::vector<pid_t> processes = {process};
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const Reading reading = look_at({processes[i], terminal}, processes);
    if (reading != Reading::no) return reading;
  }
  return Reading::no;
}

}  // namespace shmemx::launcher
