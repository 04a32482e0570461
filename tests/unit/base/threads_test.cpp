#include "base/threads.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>

BOOST_AUTO_TEST_SUITE(base_threads)

namespace {

using namespace shmemx;

// A thread that does `work` until the end of the scope, which `end` brings about.
struct Worker {
  std::atomic<pid_t> tid{0};
  std::thread thread;

  template <class Work>
  explicit Worker(Work work)
      : thread([this, work] {
          tid = ::gettid();
          work();
        }) {
    while (tid == 0) std::this_thread::yield();
  }
};

// Waits until the thread has come to where it stays. Returns nothing if it does not within two seconds.
std::optional<std::uint64_t> await_blocked(pid_t thread) {
  for (int i = 0; i < 200; ++i) {
    if (const auto switches = switches_if_blocked(thread)) return switches;
    ::usleep(10'000);
  }
  return {};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_thread_on_a_condition_variable_is_blocked_until_it_runs) {
  std::mutex mutex;
  std::condition_variable changed;
  int turn = 0;
  Worker worker([&] {
    std::unique_lock guard(mutex);
    changed.wait(guard, [&] { return turn == 2; });
  });
  const auto before = await_blocked(worker.tid);
  BOOST_REQUIRE(before);
  BOOST_CHECK(switches_if_blocked(worker.tid) == before);
  {
    const std::lock_guard guard(mutex);
    turn = 1;
  }
  changed.notify_all();
  ::usleep(20'000);
  const auto after = await_blocked(worker.tid);
  BOOST_REQUIRE(after);
  BOOST_CHECK_GT(*after, *before);
  {
    const std::lock_guard guard(mutex);
    turn = 2;
  }
  changed.notify_all();
  worker.thread.join();
}

BOOST_AUTO_TEST_CASE(a_thread_that_joins_another_is_blocked) {
  std::atomic<bool> end{false};
  std::thread other([&] {
    while (!end) ::usleep(1000);
  });
  Worker worker([&] { other.join(); });
  BOOST_CHECK(await_blocked(worker.tid));
  end = true;
  worker.thread.join();
}

BOOST_AUTO_TEST_CASE(threads_that_others_need_not_wake_are_not_blocked) {
  std::atomic<bool> end{false};
  int ends[2];
  BOOST_REQUIRE_EQUAL(::pipe(ends), 0);
  Worker computing([&] {
    while (!end) {
    }
  });
  Worker sleeping([&] {
    while (!end) ::usleep(200'000);
  });
  Worker reading([&] {
    char byte;
    static_cast<void>(!::read(ends[0], &byte, 1));
  });
  std::mutex mutex;
  std::condition_variable never;
  Worker timed([&] {
    std::unique_lock guard(mutex);
    never.wait_for(guard, std::chrono::milliseconds(300));
  });
  for (int i = 0; i < 10; ++i) {
    for (const Worker* worker : {&computing, &sleeping, &reading, &timed})
      BOOST_CHECK(!switches_if_blocked(worker->tid));
    ::usleep(10'000);
  }
  end = true;
  BOOST_CHECK_EQUAL(::write(ends[1], "", 1), 1);
  for (Worker* worker : {&computing, &sleeping, &reading, &timed}) worker->thread.join();
  ::close(ends[0]);
  ::close(ends[1]);
}

BOOST_AUTO_TEST_CASE(armed_timers_are_seen) {
  BOOST_CHECK(!has_armed_timers());
  ::alarm(1000);
  BOOST_CHECK(has_armed_timers());
  ::alarm(0);
  BOOST_CHECK(!has_armed_timers());
  timer_t timer;
  sigevent none{};
  none.sigev_notify = SIGEV_NONE;
  BOOST_REQUIRE_EQUAL(::timer_create(CLOCK_MONOTONIC, &none, &timer), 0);
  const bool kernel_tells = ::access("/proc/self/timers", R_OK) == 0;
  BOOST_CHECK_EQUAL(has_armed_timers(), kernel_tells);
  ::timer_delete(timer);
  BOOST_CHECK(!has_armed_timers());
}

BOOST_AUTO_TEST_CASE(all_threads_are_listed) {
  std::atomic<bool> end{false};
  Worker worker([&] {
    while (!end) ::usleep(1000);
  });
  const std::vector<pid_t> threads = threads_of_process();
  for (const pid_t thread : {::getpid(), worker.tid.load()})
    BOOST_CHECK_EQUAL(std::count(threads.begin(), threads.end(), thread), 1);
  end = true;
  worker.thread.join();
}

BOOST_AUTO_TEST_SUITE_END()
