// The scheduler of a PE: runs the tasks that have arrived, one at a time, in the thread of the program that is inside
// shmemx_scheduler_*, without the endpoint's lock. While it runs tasks it polls at intervals; when it has none it
// waits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tasks/handlers.hpp"
#include "tasks/incoming.hpp"
#include "tasks/queue.hpp"
#include "tasks/quiescence.hpp"

namespace shmemx::tasks {

// How many tasks may run before the next poll: about as many as run in some microseconds.
class PollInterval {
 public:
  // Returns whether a poll is due, after a task has been run.
  bool is_due() noexcept { return --left_ == 0; }
  // The poll has begun at `now_ns`.
  void note_poll(std::uint64_t now_ns) noexcept;

 private:
  static constexpr std::uint64_t kShortNs = 5'000;
  static constexpr std::uint64_t kLongNs = 20'000;
  static constexpr std::uint32_t kMostTasks = 256;

  std::uint64_t last_ns_ = 0;
  std::uint32_t tasks_ = 1;
  std::uint32_t left_ = 1;
};

// What the scheduler calls between tasks, and for a call whose handler has returned without a reply.
class SchedulerHooks {
 public:
  virtual void look() noexcept = 0;
  virtual void reply_empty() noexcept = 0;

 protected:
  ~SchedulerHooks() = default;
};

// Members that are not atomic belong to the thread in the scheduler.
class Scheduler {
 public:
  Scheduler(Budget& budget, Incoming& incoming, SchedulerHooks& hooks) noexcept
      : budget_(budget), incoming_(incoming), hooks_(hooks) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // The calling thread enters the scheduler for the time of the object's life. Ends the job if a thread is in it.
  class Entered {
   public:
    Entered(Scheduler& scheduler, const char* routine) noexcept;
    ~Entered();
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;

   private:
    Scheduler& scheduler_;
  };

  // Runs the next task. Returns false if there is none. Polls at intervals.
  bool run_next() noexcept;
  // Looks for messages. Returns whether there is a task.
  bool poll() noexcept;
  // The PE has no task to run: nothing gathers until go_on().
  void rest() noexcept { busy_.store(false, std::memory_order_relaxed); }  // a hint
  void go_on() noexcept { busy_.store(true, std::memory_order_relaxed); }  // a hint
  // Returns whether a task has arrived that the scheduler has not seen, or waits in the queue.
  bool has_work() const noexcept { return incoming_.has_any() || !queue_.is_empty(); }

  void stop() noexcept;
  // Returns whether stop() was called, once for each run.
  bool has_stopped() noexcept {
    return is_stopping() && stop_.exchange(false, std::memory_order_acquire);  // stop
  }
  bool is_stopping() const noexcept { return stop_.load(std::memory_order_relaxed); }

  // Returns whether the calling thread is inside a handler.
  bool is_in_handler() const noexcept;
  // Returns whether a thread is in the scheduler.
  bool is_entered() const noexcept { return owner_.load(std::memory_order_relaxed) != nullptr; }
  // Ends the job if a thread is in the scheduler.
  void require_left(const char* routine) const noexcept;
  // Is the scheduler running tasks? Then batches gather.
  bool is_busy() const noexcept { return busy_.load(std::memory_order_relaxed); }

  // Returns the task whose handler calls this; null outside of handlers.
  Task* running() const noexcept { return is_in_handler() ? running_ : nullptr; }
  // Adds a task that lies in a buffer.
  void queue_item(std::int32_t priority, Bytes item, Buffer& buffer, int source) noexcept;
  // A task of a handler for this PE.
  void add_own(const NewTask& task, int me) noexcept;
  const void* keep(const char* routine) noexcept;
  static void free(Budget& budget, const void* payload) noexcept;

  // Tasks that it has run, and those by add_own().
  const TaskCounts& counts() const noexcept { return counts_; }
  // Returns how many tasks wait here. No thread may be in the scheduler.
  std::size_t take_queued() noexcept;
  void clear() noexcept;

 private:
  void take_arrivals() noexcept;
  Buffer& own_with_room(std::size_t bytes, int source) noexcept;
  void queue_records(Buffer& buffer, Bytes records) noexcept;
  void queue_stretch(const Stretch& stretch) noexcept;
  void queue_one_by_one(Buffer& buffer, int source, Bytes tasks) noexcept;
  void execute(Task& task) noexcept;
  [[gnu::noinline]] static void call_observed(const Handler& handler, const Task& task) noexcept;
  [[noreturn, gnu::cold, gnu::noinline]] static void reject_unregistered(const Task& task) noexcept;
  void note_run(Buffer& buffer) noexcept;

  Budget& budget_;
  Incoming& incoming_;
  SchedulerHooks& hooks_;
  TaskQueue queue_;
  BufferList unused_;
  Buffer* own_ = nullptr;  // with tasks of handlers for this PE and copies of arrivals, filled up from task to task
  Task* running_ = nullptr;
  PollInterval interval_;
  TaskCounts counts_;
  std::atomic<const void*> owner_{nullptr};  // the thread that is in the scheduler
  std::atomic<bool> stop_{false};            // edge stop: what was written before stop(), after the run
  std::atomic<bool> busy_{false};
};

}  // namespace shmemx::tasks
