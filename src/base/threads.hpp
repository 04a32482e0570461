// Queries the threads of this process from the kernel, by the numbers that gettid() returns, also where /proc belongs
// to another PID namespace and lists other numbers. All but threads_of_process() allocate nothing and take no lock, so
// code may use them while other threads are stopped.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/unique_fd.hpp"

namespace shmemx {

// Returns true if the main thread has called pthread_exit while the process continues.
bool main_thread_has_ended() noexcept;

// Returns the threads of this process; none if the kernel does not tell. A main thread that has ended is among them
// until the process ends.
std::vector<pid_t> threads_of_process();

// Returns true if no thread runs except those in `known` and the main thread. Returns false if the kernel does not
// tell.
bool only_these_threads_run(std::span<const pid_t> known) noexcept;

// If the thread can be woken by another thread of this process only, returns how often it has given up a core: the
// number is the same later if the thread has not run between. Such a thread has ended, or sleeps on a futex without a
// time limit: in pthread_join, on a mutex or a condition variable.
std::optional<std::uint64_t> switches_if_blocked(pid_t thread) noexcept;

// Returns whether a timer of this process will send it a signal.
bool has_armed_timers() noexcept;

// Lists the threads of this process. A thread that begins or ends meanwhile may be left out.
class ThreadReader {
 public:
  enum class Numbers { listed, translated };

  ThreadReader() noexcept;
  explicit ThreadReader(Numbers numbers) noexcept;  // `listed`: the names of files in /proc/self/task

  // Returns false after the last thread, or if the kernel does not list them.
  bool next(pid_t& thread) noexcept;

 private:
  static constexpr std::size_t kBufferBytes = 1024;  // on stacks of 16 KiB
  UniqueFd directory_;
  Numbers numbers_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  alignas(std::uint64_t) char buffer_[kBufferBytes];
};

struct ThreadState {
  char state = 'X';                   // as in /proc/<pid>/stat; 'X': it has ended
  std::uint64_t blocked_signals = 0;  // bit 0 is signal 1; also those that it waits for in sigwait

  bool has_ended() const noexcept { return state == 'X' || state == 'Z'; }
  bool blocks(int signal) const noexcept { return (blocked_signals >> (signal - 1) & 1) != 0; }
};
ThreadState state_of_thread(pid_t thread) noexcept;

}  // namespace shmemx
