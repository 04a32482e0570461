// What both progress threads consist of: starting, pausing and ending, and a burst of polls.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace shmemx::progress {

class ProgressThread {
 public:
  // `main` runs until is_stopping(); `wake` wakes the thread from what it sleeps on beside pause().
  constexpr ProgressThread(const char* name, void (*main)(), void (*wake)()) noexcept
      : name_(name), main_(main), wake_(wake) {}

  // Starts the thread unless it runs in this process. Returns whether it has been started.
  bool start() noexcept;
  // Ends the thread and waits for it. Does nothing if it does not run, or if it calls this itself.
  void stop() noexcept;
  bool is_stopping() const noexcept { return stop_.load(std::memory_order_acquire) != 0; }
  pid_t tid() const noexcept { return tid_.load(std::memory_order_relaxed); }  // 0: it does not run

  // Sleeps until call(), for `ns` at most. `seen`: calls(), read before the reasons to sleep were looked at.
  void pause(std::uint32_t seen, std::uint64_t ns) noexcept;
  std::uint32_t calls() const noexcept { return calls_.load(std::memory_order_acquire); }
  void call() noexcept;

 private:
  static void* run(void* thread);
  void create() noexcept;
  bool is_running() const noexcept;

  const char* name_;
  void (*main_)();
  void (*wake_)();
  std::atomic<std::uint32_t> stop_{0};
  std::atomic<std::uint32_t> calls_{0};  // the futex of pause()
  std::atomic<pid_t> tid_{0};
  bool running_ = false;
  pthread_t thread_{};
  pid_t owner_ = 0;
};

extern ProgressThread node_thread;
extern ProgressThread network_thread;

// Ends the process after the main thread has called pthread_exit and all other threads of the program have ended: as
// the C library would but for the progress threads, by exit(0).
class LastThread {
 public:
  explicit LastThread(ProgressThread& self) noexcept;
  void look() noexcept;
  std::uint64_t interval_ns() const noexcept;

 private:
  ProgressThread& self_;
  std::uint64_t next_ns_;
  bool main_ended_ = false;
};

inline constexpr std::uint64_t kLookNs = 400'000;  // how often an idle thread looks whether others still poll
inline constexpr std::uint64_t kLongSleepNs = 2'000'000'000;

// The longest single sleep of waits that have taken long, if Policy::sleep_max_ns is less.
inline constexpr std::uint64_t kLongestStepNs = 10'000'000;
// The number of threads whose sleeps are longer than Policy::sleep_max_ns. They call the networks' thread when they
// return to the program (edge long_wait).
inline constinit std::atomic<std::uint32_t> long_waits{0};

enum class Worked : std::uint8_t { something, nothing, contended };

// Polls several times, as a message seldom arrives alone. Returns `contended` if another thread polls by itself or has
// needed the lock meanwhile: it would have to wait for each poll of this one.
Worked work(const ProgressThread& self) noexcept;
// Returns whether another thread of this PE waits in the library.
bool others_wait() noexcept;

}  // namespace shmemx::progress
