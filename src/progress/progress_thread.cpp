#include "progress/progress_thread.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/clock.hpp"
#include "base/cpu_pause.hpp"
#include "base/fatal.hpp"
#include "base/futex.hpp"
#include "base/lazy_mapping.hpp"
#include "base/mutex.hpp"
#include "base/threads.hpp"
#include "progress/hints.hpp"
#include "progress/policy.hpp"
#include "windows/memory_watch.hpp"

namespace shmemx::progress {
namespace {

constexpr std::uint32_t kPollsBeforeSleep = 50;
constexpr std::uint32_t kPollsOnSharedCore = 4;  // who would send the next message may need this core
constexpr std::uint32_t kPollsBesideWaiters = 4;
constexpr std::size_t kStackBytes = std::size_t{1} << 20;  // handlers of programs run on it
constexpr std::uint64_t kSliceNs = 100'000;                // the least that the kernel allows
constexpr std::uint64_t kIntervalAfterMainNs = 100'000'000;

constinit Mutex start_mutex;
constinit thread_local const ProgressThread* this_thread = nullptr;

// struct sched_attr of the kernel, whose header cannot stand beside <sched.h>.
struct SliceAttributes {
  std::uint32_t size = sizeof(SliceAttributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};
static_assert(sizeof(SliceAttributes) == 48);

// Requests short time slices: where the program computes on this core, the scheduler (Linux 6.12 and later) lets a
// thread with a shorter slice preempt it as soon as it is woken, and not at the end of the slice of the program. Any
// thread may request that; older kernels ignore it.
void request_short_slices() noexcept {
  SliceAttributes attributes;
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  if (attributes.policy != SCHED_OTHER) return;
  attributes.runtime_ns = kSliceNs;
  static_cast<void>(::syscall(SYS_sched_setattr, 0, &attributes, 0));
}

}  // namespace

bool ProgressThread::is_running() const noexcept { return running_ && owner_ == ::getpid(); }

bool ProgressThread::start() noexcept {
  const std::lock_guard guard(start_mutex);
  if (is_running()) return false;
  open();
  am::endpoint_lock.share();
  stop_.store(0, std::memory_order_release);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::sigdelset(&all, fault);  // whoever reports them
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals of the program go to the program's threads
  create();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  running_ = true;
  owner_ = ::getpid();
  return true;
}

void ProgressThread::create() noexcept {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  const int error = ::pthread_create(&thread_, &attributes, run, this);
  ::pthread_attr_destroy(&attributes);
  if (error != 0)
    fatal("shmem_init", "cannot start the progress thread: %s (limits: %s)", std::strerror(error),
          may_map_locked(kStackBytes) ? "ulimit -u, pids of the cgroup"
                                      : "ulimit -l, as the program has called mlockall");
}

void* ProgressThread::run(void* thread) {
  auto& self = *static_cast<ProgressThread*>(thread);
  this_thread = &self;
  self.tid_.store(::gettid(), std::memory_order_relaxed);  // a thread that is not found here counts as the program's
  ::prctl(PR_SET_NAME, self.name_);
  request_short_slices();
  self.main_();
  return nullptr;
}

// The mutex is free while the thread ends: a thread that ends the process calls this once more.
void ProgressThread::stop() noexcept {
  {
    const std::lock_guard guard(start_mutex);
    if (!is_running() || this_thread == this || stop_.load(std::memory_order_relaxed) != 0) return;
    stop_.store(1, std::memory_order_release);
    call();
    wake_();
  }
  ::pthread_join(thread_, nullptr);
  tid_.store(0, std::memory_order_relaxed);
  const std::lock_guard guard(start_mutex);
  running_ = false;
}

void ProgressThread::pause(std::uint32_t seen, std::uint64_t ns) noexcept {
  futex_sleep(calls_, seen, ns, FutexScope::process);
}

void ProgressThread::call() noexcept {
  calls_.fetch_add(1, std::memory_order_release);
  futex_wake(calls_, FutexScope::process);
}

namespace {

// Ends the process after the main thread has called pthread_exit and all other threads of the program have ended: as
// the C library would but for the progress threads, by exit(0).
class LastThread {
 public:
  explicit LastThread(ProgressThread& self) noexcept : self_(self), next_ns_(now_ns() + kLongSleepNs) {}
  void look() noexcept;
  std::uint64_t interval_ns() const noexcept { return main_ended_ ? kIntervalAfterMainNs : kLongSleepNs; }

 private:
  ProgressThread& self_;
  std::uint64_t next_ns_;
  bool main_ended_ = false;
};

void LastThread::look() noexcept {
  const std::uint64_t now = now_ns();
  if (now < next_ns_) return;
  if (!main_ended_) main_ended_ = main_thread_has_ended();
  next_ns_ = now + interval_ns();
  // A progress thread that is not known yet only puts the end off.
  const pid_t own_threads[] = {node_thread.tid(), network_thread.tid(), windows::MemoryWatch::thread()};
  if (!main_ended_ || !only_these_threads_run(own_threads)) return;
  static constinit std::atomic<bool> ending{false};
  if (!ending.exchange(true, std::memory_order_relaxed)) ::exit(0);
  self_.pause(self_.calls(), kLongSleepNs);  // the other progress thread ends the process
}

// Polls until `polls` in a row have brought nothing. Others attend to the work if another thread polls by itself or has
// needed the lock meanwhile: it would have to wait for each poll of this one.
void poll(const ProgressThread& self, std::uint32_t polls, Seen& seen) noexcept {
  const Others others;
  std::uint64_t last = now_ns();
  for (std::uint32_t idle = 0; idle < polls && !self.is_stopping(); ++idle) {
    seen.is_attended = others.have_contended();
    if (seen.is_attended) return;
    if (am::poll_in_passing()) {
      idle = 0;
      seen.moved = true;
    } else if (idle >= kPollsBesideWaiters && hints.waiters_poll()) {
      seen.is_attended = true;
      return;
    }
    cpu_pause();
    // Where the program computes, a thread that polls on loses the core again; one that sleeps is woken at once.
    if (hints.cores.note_preemption(last, now_ns(), this_cpu())) polls = std::min(polls, kPollsOnSharedCore);
  }
}

Slept sleep(LastThread& last, Source& source, std::uint64_t ns) noexcept {
  last.look();
  const std::uint64_t least = std::min(ns, last.interval_ns());
  const Slept slept = source.sleep(least);
  return slept == Slept::to_the_end && least < ns ? Slept::in_part : slept;
}

}  // namespace

Plan plan_of_thread(const SleepSteps& sleep) noexcept {
  Plan plan;
  plan.woken = {Action::pause, kPollsBeforeSleep, 0};
  plan.looking = {Action::pause, kPollsOnSharedCore, 0};
  plan.sleep = sleep;
  plan.is_crowded = policy().crowded;
  return plan;
}

void work(ProgressThread& self, Source& source, const Plan& plan) noexcept {
  Pace pace(plan, hints.cores);
  LastThread last(self);
  for (Step step = pace.begin_thread(); !self.is_stopping();) {
    if (policy().hooks.serve != nullptr) policy().hooks.serve();
    Seen seen;
    const Others others;
    switch (step.action) {
      case Action::aside:
        seen.is_attended = source.stand_aside();
        break;
      case Action::sleep:
        seen.slept = sleep(last, source, step.ns);
        seen.is_attended = seen.slept == Slept::until_woken && source.is_attended(others);
        break;
      case Action::rest:
        self.pause(self.calls(), step.ns);
        break;
      default:
        poll(self, step.polls, seen);
        seen.is_attended = seen.is_attended || source.is_attended(Others());
        break;
    }
    seen.now_ns = now_ns();
    seen.cpu = this_cpu();
    seen.longest_ns = source.longest_sleep_ns();
    step = pace.next(seen);
  }
}

}  // namespace shmemx::progress
