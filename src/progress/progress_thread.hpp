// What both progress threads consist of: starting and ending, and the one protocol by which they work, sleep, and leave
// the work to others.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "am/endpoint.hpp"
#include "base/clock.hpp"
#include "progress/pace.hpp"

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

inline constexpr std::uint64_t kLookNs = 400'000;  // how often an idle thread looks whether others still poll
inline constexpr std::uint64_t kLongSleepNs = 2'000'000'000;

// What other threads do with the endpoint from now on.
class Others {
 public:
  std::uint32_t polls() const noexcept { return am::own_endpoint().activity() - polls_; }
  std::uint64_t elapsed_ns() const noexcept { return now_ns() - begin_ns_; }
  // Returns whether one has needed the lock while another thread had it.
  bool have_contended() const noexcept { return am::endpoint_lock.contention() != contention_; }

 private:
  const std::uint64_t begin_ns_ = now_ns();
  const std::uint32_t polls_ = am::own_endpoint().activity();
  const std::uint32_t contention_ = am::endpoint_lock.contention();
};

// Where the messages come from that a progress thread handles.
class Source {
 public:
  // Sleeps for at most `ns` until a message arrives. Returns not_at_all if there is something to do before.
  virtual Slept sleep(std::uint64_t ns) noexcept = 0;
  // Leaves the work to others for a while. Returns whether they have done it meanwhile, and go on.
  virtual bool stand_aside() noexcept = 0;
  // Returns whether other threads do the work, by what they have done since `others`.
  virtual bool is_attended(const Others& others) const noexcept = 0;
  // Returns the longest sleep, kUntilWoken if all messages wake the thread.
  virtual std::uint64_t longest_sleep_ns() const noexcept = 0;

 protected:
  ~Source() = default;
};

// What a progress thread does until it ends. While other threads of the PE work, it looks at intervals only whether
// they still do. Else it polls several times, as a message seldom arrives alone, and sleeps on its source.
void work(ProgressThread& self, Source& source, const Plan& plan) noexcept;
// The plan of both threads, with these sleeps.
Plan plan_of_thread(const SleepSteps& sleep) noexcept;

}  // namespace shmemx::progress
