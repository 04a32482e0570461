#include "base/threads.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/unique_fd.hpp"

namespace shmemx {
namespace {

// The begin of a file about a thread; empty if it cannot be read.
template <std::size_t kBytes>
struct ThreadFile {
  char text[kBytes] = "";

  ThreadFile(pid_t thread, const char* name) noexcept {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/%s", static_cast<int>(thread), name);
    const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
    const ssize_t bytes = file.valid() ? ::read(file.get(), text, sizeof text - 1) : 0;
    text[std::max<ssize_t>(bytes, 0)] = '\0';
  }
};

bool has_ended(pid_t thread) noexcept {
  const ThreadFile<256> file(thread, "stat");
  const char* const name_end = std::strrchr(file.text, ')');  // the name may contain any character
  return name_end != nullptr && std::strncmp(name_end, ") Z", 3) == 0;
}

// The kernel prints "running", or the number of the system call and its arguments.
bool sleeps_on_futex(pid_t thread) noexcept {
  constexpr int kBase = 10;
  const ThreadFile<256> file(thread, "syscall");
  char* rest = nullptr;
  const long call = std::strtol(file.text, &rest, kBase);
  if (rest == file.text || call != SYS_futex) return false;
  unsigned long arguments[4];
  for (unsigned long& argument : arguments) argument = std::strtoul(rest, &rest, 0);
  const auto operation = static_cast<int>(arguments[1]) & FUTEX_CMD_MASK;
  return (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) && arguments[3] == 0;
}

}  // namespace

bool main_thread_has_ended() noexcept { return has_ended(::getpid()); }

std::vector<pid_t> threads_of_process() {
  std::vector<pid_t> threads;
  DIR* const list = ::opendir("/proc/self/task");
  if (list == nullptr) return threads;
  while (const dirent* const entry = ::readdir(list)) {
    if (const pid_t thread = std::atoi(entry->d_name); thread > 0) threads.push_back(thread);  // 0 for "." and ".."
  }
  ::closedir(list);
  return threads;
}

bool only_these_threads_run(std::span<const pid_t> known) noexcept {
  const std::vector<pid_t> threads = threads_of_process();
  return !threads.empty() && std::all_of(threads.begin(), threads.end(), [&](pid_t thread) {
    return thread == ::getpid() || std::find(known.begin(), known.end(), thread) != known.end();
  });
}

std::optional<std::uint64_t> switches_if_blocked(pid_t thread) noexcept {
  const ThreadFile<4096> status(thread, "status");
  const char* const voluntary = std::strstr(status.text, "\nvoluntary_ctxt_switches:");
  const char* const others = std::strstr(status.text, "\nnonvoluntary_ctxt_switches:");
  if (voluntary == nullptr || others == nullptr) return {};
  if (!has_ended(thread) && !sleeps_on_futex(thread)) return {};
  return std::strtoull(std::strchr(voluntary, ':') + 1, nullptr, 0) +
         std::strtoull(std::strchr(others, ':') + 1, nullptr, 0);
}

bool has_armed_timers() noexcept {
  for (const auto timer : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    itimerval value{};
    if (::getitimer(timer, &value) != 0 || value.it_value.tv_sec != 0 || value.it_value.tv_usec != 0) return true;
  }
  const UniqueFd file(::open("/proc/self/timers", O_RDONLY | O_CLOEXEC));  // those of timer_create
  char any;
  return file.valid() && ::read(file.get(), &any, 1) == 1;
}

}  // namespace shmemx
