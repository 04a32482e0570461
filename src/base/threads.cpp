#include "base/threads.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/small_file.hpp"

namespace shmemx {
namespace {

// What getdents64 writes.
struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t next;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[1];
};

// Returns what follows the name in front of the first colon of a line; null if there is no such line.
const char* value_of(const char* text, const char* name) noexcept {
  const char* const line = std::strstr(text, name);
  return line == nullptr ? nullptr : line + std::strlen(name);
}

// Returns true if /proc shows threads by the numbers of an outer PID namespace: if this process has been put into one
// of its own, and nobody has mounted a /proc for it.
bool has_outer_numbers() noexcept {
  char link[64];
  const ssize_t bytes = ::readlink("/proc/thread-self", link, sizeof link - 1);  // "<pid>/task/<tid>"
  if (bytes <= 0) return false;
  link[bytes] = '\0';
  const char* const slash = std::strrchr(link, '/');
  return slash != nullptr && std::atoi(slash + 1) != ::gettid();
}

// Returns the number in this process's own PID namespace of the thread that /proc lists by this number, 0 if it has
// ended.
[[gnu::noinline]] pid_t inner_number(pid_t listed) noexcept {
  char path[64];
  char text[2048];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/status", static_cast<int>(listed));
  const char* number = read_small_file(path, text) ? value_of(text, "\nNSpid:") : nullptr;
  pid_t inner = 0;  // the last of the line
  while (number != nullptr && *number == '\t') {
    char* rest = nullptr;
    inner = static_cast<pid_t>(std::strtol(number, &rest, 10));
    number = rest;
  }
  return inner;
}

// The reverse, 0 if the thread has ended.
pid_t outer_number(pid_t thread) noexcept {
  ThreadReader reader(ThreadReader::Numbers::listed);
  pid_t listed = 0;
  while (reader.next(listed)) {
    if (inner_number(listed) == thread) return listed;
  }
  return 0;
}

// Reads the begin of a file of a thread. Returns false if the thread has ended.
bool read_file_of(pid_t thread, const char* file, std::span<char> text) noexcept {
  char path[64];
  const pid_t listed = has_outer_numbers() ? outer_number(thread) : thread;
  std::snprintf(path, sizeof path, "/proc/self/task/%d/%s", static_cast<int>(listed), file);
  return read_small_file(path, text);
}

// Returns the signals that a thread waits for in sigwait or its kin, for which the kernel shows them as not blocked.
std::uint64_t awaited_signals(pid_t thread) noexcept {
  char text[256];
  if (!read_file_of(thread, "syscall", text)) return 0;
  char* rest = text;
  if (std::strtol(text, &rest, 10) != SYS_rt_sigtimedwait || rest == text) return 0;
  std::uint64_t signals = 0;
  const iovec here{&signals, sizeof signals};
  const iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(std::strtoull(rest, nullptr, 16))),
                    sizeof signals};
  const bool is_read = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == sizeof signals;
  return is_read ? signals : ~std::uint64_t{0};
}

// The kernel prints "running", or the number of the system call and its arguments.
bool sleeps_on_futex(pid_t thread) noexcept {
  char text[256];
  if (!read_file_of(thread, "syscall", text)) return false;
  char* rest = text;
  if (std::strtol(text, &rest, 10) != SYS_futex || rest == text) return false;
  unsigned long arguments[4];
  for (unsigned long& argument : arguments) argument = std::strtoul(rest, &rest, 0);
  const auto operation = static_cast<int>(arguments[1]) & FUTEX_CMD_MASK;
  return (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) && arguments[3] == 0;
}

}  // namespace

bool main_thread_has_ended() noexcept { return state_of_thread(::getpid()).state == 'Z'; }

std::vector<pid_t> threads_of_process() {
  std::vector<pid_t> threads;
  ThreadReader reader;
  for (pid_t thread = 0; reader.next(thread);) threads.push_back(thread);
  return threads;
}

bool only_these_threads_run(std::span<const pid_t> known) noexcept {
  ThreadReader reader;
  bool any = false;
  for (pid_t thread = 0; reader.next(thread); any = true) {
    if (thread != ::getpid() && std::find(known.begin(), known.end(), thread) == known.end()) return false;
  }
  return any;
}

ThreadReader::ThreadReader() noexcept : ThreadReader(has_outer_numbers() ? Numbers::translated : Numbers::listed) {}

ThreadReader::ThreadReader(Numbers numbers) noexcept
    : directory_(::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), numbers_(numbers) {}

bool ThreadReader::next(pid_t& thread) noexcept {
  for (;;) {
    if (at_ == filled_) {
      const long got = directory_.valid() ? ::syscall(SYS_getdents64, directory_.get(), buffer_, sizeof buffer_) : 0;
      if (got <= 0) return false;
      at_ = 0;
      filled_ = static_cast<std::size_t>(got);
    }
    const char* const entry = buffer_ + at_;
    at_ += reinterpret_cast<const DirectoryEntry*>(entry)->bytes;
    thread = std::atoi(entry + offsetof(DirectoryEntry, name));  // 0 for "." and ".."
    if (thread > 0 && numbers_ == Numbers::translated) thread = inner_number(thread);
    if (thread > 0) return true;
  }
}

ThreadState state_of_thread(pid_t thread) noexcept {
  ThreadState found;
  char text[2048];
  std::uint64_t awaited = awaited_signals(thread);
  if (!read_file_of(thread, "status", text)) return found;
  if (const char* const state = value_of(text, "\nState:\t")) found.state = *state;
  if (const char* const blocked = value_of(text, "\nSigBlk:\t"))
    found.blocked_signals = std::strtoull(blocked, nullptr, 16);
  awaited |= awaited_signals(thread);
  found.blocked_signals |= awaited;
  return found;
}

std::optional<std::uint64_t> switches_if_blocked(pid_t thread) noexcept {
  char text[4096];  // the counts are the last lines
  if (!read_file_of(thread, "status", text)) return {};
  const char* const state = value_of(text, "\nState:\t");
  const char* const voluntary = value_of(text, "\nvoluntary_ctxt_switches:");
  const char* const others = value_of(text, "\nnonvoluntary_ctxt_switches:");
  if (state == nullptr || voluntary == nullptr || others == nullptr) return {};
  if (*state != 'Z' && !sleeps_on_futex(thread)) return {};
  return std::strtoull(voluntary, nullptr, 0) + std::strtoull(others, nullptr, 0);
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
