#include "base/stopped_threads.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>
#include <vector>

#include "base/threads.hpp"

namespace {

using namespace shmemx;

// Counts until it is destroyed.
class Counter {
 public:
  Counter()
      : thread_([this] {
          while (!ends_.load()) count_.fetch_add(1);
        }) {
    while (count_.load() == 0) usleep(100);  // the C library and sanitizers block all signals while a thread begins
  }
  ~Counter() {
    ends_ = true;
    thread_.join();
  }
  long value() const { return count_.load(); }

 private:
  std::atomic<bool> ends_{false};
  std::atomic<long> count_{0};
  std::thread thread_;
};

// Waits with these signals blocked.
class Blocker {
 public:
  explicit Blocker(const sigset_t& signals)
      : thread_([this, signals] {
          pthread_sigmask(SIG_SETMASK, &signals, nullptr);
          id_ = ::gettid();
          while (!ends_.load()) usleep(1000);
          pthread_sigmask(SIG_SETMASK, nullptr, &mask_at_end_);
        }) {
    while (id_.load() == 0) usleep(100);
  }
  ~Blocker() { end(); }
  sigset_t end() {
    ends_ = true;
    if (thread_.joinable()) thread_.join();
    return mask_at_end_;
  }
  pid_t id() const { return id_; }

 private:
  std::atomic<bool> ends_{false};
  std::atomic<pid_t> id_{0};
  sigset_t mask_at_end_{};
  std::thread thread_;
};

sigset_t all_signals() {
  sigset_t all;
  sigfillset(&all);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_thread_runs_while_they_are_stopped) {
  const Counter counters[3];
  for (int round = 0; round < 20; ++round) {
    const StoppedThreads others(Stop::once);
    BOOST_REQUIRE(others.all_stopped());
    const long before[] = {counters[0].value(), counters[1].value(), counters[2].value()};
    usleep(500);
    for (int i = 0; i < 3; ++i) BOOST_REQUIRE_EQUAL(counters[i].value(), before[i]);
  }
  const long before = counters[0].value();
  while (counters[0].value() == before) usleep(100);
}

BOOST_AUTO_TEST_CASE(threads_may_begin_and_end_meanwhile) {
  std::atomic<bool> ends{false};
  std::thread starter([&ends] {
    while (!ends.load()) std::thread([] {}).join();
  });
  for (int round = 0; round < 20; ++round) BOOST_CHECK(StoppedThreads(Stop::once).all_stopped());
  ends = true;
  starter.join();
}

BOOST_AUTO_TEST_CASE(dispositions_and_the_mask_are_as_before) {
  const Counter counter;
  sigset_t mask_before;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask_before);
  struct sigaction before[65] = {};
  for (int number = 1; number < 65; ++number) ::sigaction(number, nullptr, &before[number]);
  BOOST_CHECK(StoppedThreads(Stop::once).all_stopped());
  for (int number = 1; number < 65; ++number) {
    struct sigaction after {};
    ::sigaction(number, nullptr, &after);
    BOOST_CHECK(after.sa_handler == before[number].sa_handler);
    BOOST_CHECK_EQUAL(after.sa_flags, before[number].sa_flags);
  }
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  for (int number = 1; number < 65; ++number)
    BOOST_CHECK_EQUAL(sigismember(&mask, number), sigismember(&mask_before, number));
}

#if !defined(__SANITIZE_THREAD__)  // its own thread blocks all signals, so that such threads are left out there
BOOST_AUTO_TEST_CASE(a_thread_that_blocks_all_signals_is_named_and_others_go_on) {
  const Counter counter;
  const Blocker blocker(all_signals());
  BOOST_CHECK_EQUAL(StoppedThreads(Stop::once).unstopped(), blocker.id());
  const long before = counter.value();
  while (counter.value() == before) usleep(100);
}
#endif

// As threads of networks do.
BOOST_AUTO_TEST_SUITE(base_stopped_threads)

BOOST_AUTO_TEST_CASE(a_thread_that_leaves_one_signal_unblocked_blocks_all_after_the_last_stop) {
  const int open = free_stop_signal();
  BOOST_REQUIRE_GE(open, SIGRTMIN);
  sigset_t mask = all_signals();
  sigdelset(&mask, open);
  Blocker helper(mask);
  BOOST_CHECK(StoppedThreads(Stop::once).all_stopped());
  while (state_of_thread(helper.id()).blocks(open)) usleep(100);  // it leaves the handler
  BOOST_CHECK(StoppedThreads(Stop::last).all_stopped());
  const sigset_t at_end = helper.end();
  BOOST_CHECK_EQUAL(sigismember(&at_end, open), 1);
}

BOOST_AUTO_TEST_CASE(a_thread_in_sigwait_gets_no_signal_that_it_waits_for) {
  sigset_t few;
  sigemptyset(&few);
  sigaddset(&few, SIGRTMAX);
  sigaddset(&few, SIGUSR1);
  int got = 0;
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &few, &before);
  std::thread waiter([&few, &got] { sigwait(&few, &got); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  usleep(5000);
  BOOST_CHECK(StoppedThreads(Stop::once).all_stopped());
  pthread_kill(waiter.native_handle(), SIGUSR1);
  waiter.join();
  BOOST_CHECK_EQUAL(got, SIGUSR1);
}

BOOST_AUTO_TEST_CASE(the_threads_of_the_process_are_listed) {
  const Blocker blocker(all_signals());
  std::vector<pid_t> threads;
  ThreadReader reader;
  for (pid_t thread = 0; reader.next(thread);) threads.push_back(thread);
  BOOST_CHECK_EQUAL(std::count(threads.begin(), threads.end(), blocker.id()), 1);
  BOOST_CHECK_EQUAL(std::count(threads.begin(), threads.end(), ::getpid()), 1);
  BOOST_CHECK(state_of_thread(blocker.id()).blocks(SIGUSR1));
  BOOST_CHECK(!state_of_thread(::getpid()).blocks(SIGUSR1));
  BOOST_CHECK(state_of_thread(1 << 22).has_ended());
}

// Here /proc lists other numbers than those that signals take.
BOOST_AUTO_TEST_CASE(a_process_in_a_pid_namespace_of_its_own_stops_its_threads) {
  constexpr int kNoNamespaces = 77;
  const pid_t outer = ::fork();
  if (outer == 0) {
    if (::unshare(CLONE_NEWPID) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) ::_exit(kNoNamespaces);
    const pid_t inner = ::fork();
    if (inner == 0) {
      const Counter counter;
      while (counter.value() == 0) usleep(100);
      const StoppedThreads stopped(Stop::once);
      const long before = counter.value();
      usleep(10'000);
      ::_exit(stopped.unstopped() == 0 && counter.value() == before && !state_of_thread(1).has_ended() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(inner, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
  }
  int status = 0;
  ::waitpid(outer, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoNamespaces) {
    BOOST_TEST_MESSAGE("skipped: no PID namespaces here");
    return;
  }
  BOOST_CHECK_EQUAL(status, 0);
}

BOOST_AUTO_TEST_SUITE_END()
