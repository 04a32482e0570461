
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/clock.hpp"
#include "base/doorbell.hpp"
#include "base/wait_mode.hpp"
#include "progress/hints.hpp"
#include "progress/policy.hpp"
#include "progress/test_loop.hpp"
#include "progress/wait.hpp"
#include "support/core.hpp"
#include "support/waiting.hpp"

namespace {

using namespace shmemx;
using namespace shmemx::progress;
using std::chrono::milliseconds;
using unit::WaitingGuard;

// Hooks of the policy that record what a wait did.
std::atomic<int> sleeps{0};
std::atomic<int> wakes{0};
std::atomic<const char*> slept_in{nullptr};

void count_sleep(const char* routine, const shmemx::bootstrap::Awaited&) {
  slept_in = routine;
  ++sleeps;
}
void count_wake() { ++wakes; }

int messages = 0;

unit::WaitSettings policy_of(WaitMode mode, Doorbell* doorbell) {
  sleeps = wakes = 0;
  unit::WaitSettings policy;
  policy.mode = mode;
  policy.own_doorbell = doorbell;
  policy.hooks.on_sleep = count_sleep;
  policy.hooks.on_wake = count_wake;
  return policy;
}

// Waits for a flag that another thread sets `delay` after the waiter has begun that many sleeps, with a wake if
// `doorbell` is given. Returns the delay from the store to the return of the wait in ns.
std::uint64_t wait_for_a_late_flag(milliseconds delay, Doorbell* doorbell, int after_sleeps = 0) {
  constexpr std::uint64_t kMostNs = 30'000'000'000;  // for a waiter that does not sleep
  std::atomic<bool> flag{false};
  std::uint64_t set_at = 0;
  std::thread setter([&] {
    const std::uint64_t end = now_ns() + kMostNs;
    while (sleeps.load() < after_sleeps && now_ns() < end) std::this_thread::sleep_for(milliseconds(1));
    std::this_thread::sleep_for(delay);
    set_at = now_ns();
    flag.store(true, std::memory_order_release);
    if (doorbell != nullptr) wake(*doorbell);
  });
  wait_for("shmem_test", [&] { return flag.load(std::memory_order_acquire); });
  const std::uint64_t seen_at = now_ns();
  setter.join();
  return seen_at - set_at;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(progress_wait, unit::NoOtherPrograms)

BOOST_AUTO_TEST_CASE(a_condition_that_holds_already_needs_one_poll) {
  Doorbell doorbell{};
  const WaitingGuard guard(policy_of(WaitMode::block, &doorbell));
  int polls = 0;
  wait_for("shmem_test", [&] { return ++polls == 1; });
  BOOST_CHECK_EQUAL(polls, 1);
  BOOST_CHECK_EQUAL(sleeps, 0);
}

BOOST_AUTO_TEST_CASE(on_a_busy_core_a_waiter_sleeps_without_yielding) {
  Doorbell doorbell{};
  unit::WaitSettings policy = policy_of(WaitMode::automatic, &doorbell);
  policy.yield_ns = 60'000'000'000U;
  const WaitingGuard guard(policy);
  const unit::OnBusyCore busy;
  wait_for_a_late_flag(milliseconds(20), &doorbell, 1);
  BOOST_CHECK_GT(sleeps.load(), 0);
  BOOST_CHECK_EQUAL(wakes, 1);
}

// As with very many PEs on a core: a first step that is longer than the wait ends by a wake only.
BOOST_AUTO_TEST_CASE(without_a_yielding_phase_a_crowded_waiter_sleeps_once_until_it_is_woken) {
  Doorbell doorbell{};
  unit::WaitSettings policy = policy_of(WaitMode::automatic, &doorbell);
  policy.crowded = true;
  policy.pause_polls = 0;
  policy.yield_ns = 0;
  policy.sleep.first_ns = policy.sleep.max_ns = 60'000'000'000;
  const WaitingGuard guard(policy);
  wait_for_a_late_flag(milliseconds(20), &doorbell, 1);
  BOOST_CHECK_EQUAL(sleeps, 1);
  BOOST_CHECK_EQUAL(wakes, 1);
}

BOOST_AUTO_TEST_CASE(a_waiter_records_its_core_in_the_doorbell) {
  Doorbell doorbell{};
  const WaitingGuard guard(policy_of(WaitMode::automatic, &doorbell));
  const unit::OnOneCore core;
  wait_for_a_late_flag(milliseconds(5), &doorbell, 1);
  BOOST_CHECK_EQUAL(doorbell.cpu.load(), core.cpu() + 1U);
}

BOOST_AUTO_TEST_CASE(before_it_sleeps_a_waiter_leaves_messages_to_others) {
  static std::atomic<int> calls{0};
  static std::atomic<bool> was_counted{false};
  calls = 0;
  Doorbell doorbell{};
  unit::WaitSettings policy = policy_of(WaitMode::block, &doorbell);
  policy.hooks.leave_polling = [] {
    was_counted = hints.threads_asleep.load() == 1;
    ++calls;
  };
  const WaitingGuard guard(policy);
  wait_for_a_late_flag(milliseconds(20), &doorbell, 2);
  BOOST_CHECK_GT(calls.load(), 0);
  BOOST_CHECK(was_counted);
  BOOST_CHECK_EQUAL(hints.threads_asleep.load(), 0U);
}

// The progress thread would take the core from the peer whose store is about to come.
BOOST_AUTO_TEST_CASE(a_waiter_for_a_node_peer_leaves_messages_to_others_from_its_second_step_on) {
  static std::atomic<int> steps_before{0};
  steps_before = 0;
  Doorbell doorbell{};
  unit::WaitSettings policy = policy_of(WaitMode::block, &doorbell);
  policy.sleep.first_ns = 50'000;
  policy.hooks.leave_polling = [] {
    int none = 0;
    steps_before.compare_exchange_strong(none, sleeps.load());
  };
  const WaitingGuard guard(policy);
  constexpr int kNodePeer = 0;
  wait_for_store("shmem_test", kNodePeer, [] { return sleeps.load() == 4; });
  BOOST_CHECK_EQUAL(steps_before.load(), 2);
  steps_before = 0;
  sleeps = 0;
  wait_for("shmem_test", [] { return sleeps.load() == 4; });
  BOOST_CHECK_EQUAL(steps_before.load(), 1);
}

// One thread has slept on the networks and takes its mark back when another one has marked the doorbell, and looks for
// the last time before it sleeps there.
BOOST_AUTO_TEST_CASE(a_thread_that_takes_its_mark_back_leaves_that_of_another_one) {
  static std::atomic<bool> is_first_asleep;
  static std::atomic<bool> first_may_wake;
  static std::atomic<bool> is_first_done;
  is_first_asleep = first_may_wake = is_first_done = false;
  static thread_local bool is_first = false;
  Doorbell doorbell{};
  unit::WaitSettings policy = policy_of(WaitMode::block, &doorbell);
  policy.sleep.first_ns = 10'000'000'000;
  policy.sleep.max_ns = 10'000'000'000;
  policy.hooks.sleep_on_networks = [](std::uint32_t, std::uint64_t) {
    if (!is_first) return Slept::not_at_all;
    is_first_asleep = true;
    while (!first_may_wake) std::this_thread::yield();
    return Slept::until_woken;
  };
  const WaitingGuard guard(policy);
  std::thread first([] {
    is_first = true;
    wait_for("shmem_test", [] { return first_may_wake.load(); });
    is_first_done = true;
  });
  while (!is_first_asleep) std::this_thread::yield();
  doorbell.sleepers = 0;  // the first thread's mark would do for both
  std::atomic<bool> flag{false};
  std::thread second([&] {
    wait_for("shmem_test", [&] {
      if (doorbell.sleepers.load() != 0 && !first_may_wake.exchange(true)) {
        while (!is_first_done) std::this_thread::yield();
      }
      return flag.load(std::memory_order_acquire);
    });
  });
  while (hints.threads_asleep.load() == 0) std::this_thread::yield();
  BOOST_CHECK_EQUAL(doorbell.sleepers.load(), 1U);
  flag.store(true, std::memory_order_release);
  doorbell.sleepers = 1;
  wake(doorbell);
  first.join();
  second.join();
}

BOOST_AUTO_TEST_CASE(a_waiter_sleeps_on_the_networks_if_possible_and_else_on_its_doorbell) {
  static std::atomic<int> refused{0};
  static std::atomic<int> taken{0};
  refused = taken = 0;
  Doorbell doorbell{};
  unit::WaitSettings policy = policy_of(WaitMode::block, &doorbell);
  policy.hooks.sleep_on_networks = [](std::uint32_t, std::uint64_t) {
    if (refused == 0) {
      ++refused;
      return Slept::not_at_all;
    }
    ++taken;
    std::this_thread::sleep_for(milliseconds(1));
    return Slept::to_the_end;
  };
  const WaitingGuard guard(policy);
  wait_for_a_late_flag(milliseconds(20), nullptr, 3);
  BOOST_CHECK_EQUAL(refused, 1);
  BOOST_CHECK_GT(taken.load(), 0);
}

// Tests `count` times, with work of `work_ns` before each test. Returns whether this yielded the core: on a busy core
// that is a sleep, which sets `sleepers`.
bool testing_yields(int count, std::uint64_t work_ns, std::uint64_t result_step) {
  Doorbell doorbell{};
  unit::WaitSettings policy = policy_of(WaitMode::automatic, &doorbell);
  policy.crowded = true;
  const WaitingGuard guard(policy);
  const unit::OnBusyCore busy;
  for (int i = 0; i < count && doorbell.sleepers == 0; ++i) {
    for (const std::uint64_t begin = now_ns(); now_ns() - begin < work_ns;) {
    }
    repeated_test(&doorbell, static_cast<std::uint64_t>(i) * result_step);
  }
  return doorbell.sleepers != 0;
}

BOOST_AUTO_TEST_CASE(repeated_tests_yield_the_core) { BOOST_CHECK(testing_yields(1'000'000, 0, 0)); }
BOOST_AUTO_TEST_CASE(tests_with_work_between_them_do_not_yield) { BOOST_CHECK(!testing_yields(200, 20'000, 0)); }
BOOST_AUTO_TEST_CASE(tests_with_changing_results_do_not_yield) { BOOST_CHECK(!testing_yields(100'000, 0, 1)); }

BOOST_AUTO_TEST_CASE(the_bare_and_pausing_polls_come_before_anything_else) {
  Doorbell doorbell{};
  unit::WaitSettings policy = policy_of(WaitMode::block, &doorbell);
  policy.bare_polls = 10;
  policy.pause_polls = 20;
  const WaitingGuard guard(policy);
  int polls = 0;
  wait_for("shmem_test", [&] { return ++polls == 30; });
  BOOST_CHECK_EQUAL(sleeps, 0);
  polls = 0;
  wait_for("shmem_test", [&] { return ++polls == 31; });
  BOOST_CHECK_EQUAL(sleeps, 1);
  BOOST_CHECK_EQUAL(wakes, 1);
}

// A sleeper sets `sleepers` of its doorbell; without a wake it stays set.
BOOST_AUTO_TEST_CASE(a_spinning_wait_never_sleeps) {
  Doorbell doorbell{};
  unit::WaitSettings policy = policy_of(WaitMode::spin, &doorbell);
  policy.yield_ns = 0;
  const WaitingGuard guard(policy);
  wait_for_a_late_flag(milliseconds(20), nullptr);
  BOOST_CHECK_EQUAL(doorbell.sleepers.load(), 0U);
  progress::policy().mode = WaitMode::block;
  sleeps = 0;
  wait_for_a_late_flag(milliseconds(20), nullptr, 1);
  BOOST_CHECK_EQUAL(doorbell.sleepers.load(), 1U);
}

BOOST_AUTO_TEST_CASE(a_spinning_wait_checks_occasionally_whether_its_peers_have_ended) {
  Doorbell doorbell{};
  const WaitingGuard guard(policy_of(WaitMode::spin, &doorbell));
  wait_for("shmem_test", [] { return sleeps >= 2; });  // ends by these checks only
  BOOST_CHECK_EQUAL(wakes, 1);
  BOOST_CHECK_EQUAL(doorbell.sleepers.load(), 0U);
}

BOOST_AUTO_TEST_CASE(an_automatic_wait_yields_before_it_sleeps) {
  Doorbell doorbell{};
  unit::WaitSettings policy = policy_of(WaitMode::automatic, &doorbell);
  policy.yield_ns = 30'000'000'000;
  const WaitingGuard guard(policy);
  wait_for_a_late_flag(milliseconds(20), nullptr);
  BOOST_CHECK_EQUAL(sleeps, 0);
}

BOOST_AUTO_TEST_CASE(an_automatic_wait_sleeps_after_its_yielding_phase) {
  Doorbell doorbell{};
  unit::WaitSettings policy = policy_of(WaitMode::automatic, &doorbell);
  policy.yield_ns = 1'000'000;
  const WaitingGuard guard(policy);
  wait_for_a_late_flag(milliseconds(20), &doorbell, 1);
  BOOST_CHECK_GE(sleeps, 1);
  BOOST_CHECK_EQUAL(wakes, 1);
  BOOST_CHECK_EQUAL(std::strcmp(slept_in, "shmem_test"), 0);
}

BOOST_AUTO_TEST_CASE(a_blocking_wait_sleeps_without_yielding) {
  Doorbell doorbell{};
  unit::WaitSettings policy = policy_of(WaitMode::block, &doorbell);
  policy.yield_ns = ~std::uint64_t{0};  // would never stop yielding
  const WaitingGuard guard(policy);
  wait_for_a_late_flag(milliseconds(20), &doorbell, 1);
  BOOST_CHECK_GE(sleeps, 1);
}

BOOST_AUTO_TEST_CASE(without_a_doorbell_a_wait_does_not_sleep) {
  const WaitingGuard guard(policy_of(WaitMode::block, nullptr));
  wait_for_a_late_flag(milliseconds(20), nullptr);
  BOOST_CHECK_EQUAL(sleeps, 0);
}

BOOST_AUTO_TEST_CASE(a_wake_ends_a_long_sleep) {
  constexpr std::uint64_t kSleepNs = 60'000'000'000;
  for (int attempt = 0; attempt < 5; ++attempt) {
    Doorbell doorbell{};
    unit::WaitSettings policy = policy_of(WaitMode::block, &doorbell);
    policy.sleep.first_ns = policy.sleep.max_ns = kSleepNs;
    const WaitingGuard guard(policy);
    BOOST_CHECK_LT(wait_for_a_late_flag(milliseconds(20), &doorbell, 1), kSleepNs / 2);
    BOOST_CHECK_GE(doorbell.wake_seq.load(), 1U);
    BOOST_CHECK_EQUAL(doorbell.sleepers.load(), 0U);
  }
}

BOOST_AUTO_TEST_CASE(a_change_without_a_wake_is_found_after_a_bounded_sleep) {
  Doorbell doorbell{};
  unit::WaitSettings policy = policy_of(WaitMode::block, &doorbell);
  policy.sleep.max_ns = 2'000'000;
  const WaitingGuard guard(policy);
  // Steps of 50, 100, ... us and of at most 2 ms: without this bound the last one would take a minute.
  constexpr int kSleeps = 20;
  const std::uint64_t late = wait_for_a_late_flag(milliseconds(0), nullptr, kSleeps);
  BOOST_CHECK_LT(late, 20'000'000'000U);
  BOOST_CHECK_GE(sleeps, kSleeps);
  BOOST_CHECK_EQUAL(doorbell.wake_seq.load(), 0U);
}

BOOST_AUTO_TEST_CASE(a_wake_without_sleepers_changes_nothing) {
  Doorbell doorbell{};
  BOOST_CHECK(!has_sleepers(doorbell));
  wake(doorbell);
  wake_sleepers(doorbell);
  BOOST_CHECK_EQUAL(doorbell.wake_seq.load(), 0U);
  doorbell.sleepers = 1;
  BOOST_CHECK(has_sleepers(doorbell));
  wake(doorbell);
  wake(doorbell);
  BOOST_CHECK_EQUAL(doorbell.wake_seq.load(), 1U);
  BOOST_CHECK_EQUAL(doorbell.sleepers.load(), 0U);
}

// Only the poll makes the condition true, and each phase calls it.
BOOST_AUTO_TEST_CASE(every_phase_handles_messages) {
  struct Phase {
    WaitMode mode;
    std::uint32_t pause_polls;
    std::uint64_t yield_ns;
    int expected_sleeps;  // -1: some
  };
  const Phase phases[] = {{WaitMode::automatic, 1000, 0, 0},
                          {WaitMode::automatic, 0, 30'000'000'000, 0},
                          {WaitMode::block, 0, 0, -1},
                          {WaitMode::spin, 0, 0, 0}};
  for (const Phase& phase : phases) {
    Doorbell doorbell{};
    unit::WaitSettings policy = policy_of(phase.mode, &doorbell);
    policy.bare_polls = 1;
    policy.pause_polls = phase.pause_polls;
    policy.yield_ns = phase.yield_ns;
    policy.poll = [] { return ++messages == 5; };
    const WaitingGuard guard(policy);
    messages = 0;
    int looks = 0;
    wait_for("shmem_test", [&] { return ++looks > 0 && messages >= 5; });
    BOOST_CHECK_EQUAL(messages, 5);
    BOOST_CHECK_EQUAL(looks, 7);  // the first one, one before each poll, one after the message
    if (phase.expected_sleeps >= 0) BOOST_CHECK_EQUAL(sleeps, phase.expected_sleeps);
    if (phase.expected_sleeps < 0) BOOST_CHECK_GE(sleeps, 1);
  }
}

BOOST_AUTO_TEST_CASE(a_message_that_arrives_before_the_sleep_prevents_it) {
  Doorbell doorbell{};
  unit::WaitSettings policy = policy_of(WaitMode::block, &doorbell);
  policy.pause_polls = 0;
  policy.sleep.max_ns = 60'000'000'000;
  policy.poll = [] { return ++messages == 1; };
  const WaitingGuard guard(policy);
  messages = 0;
  const std::uint64_t begin = now_ns();
  wait_for("shmem_test", [] { return messages == 1; });
  BOOST_CHECK_LT(now_ns() - begin, policy.sleep.max_ns / 2);
  BOOST_CHECK_EQUAL(sleeps, 1);  // announced only
}

BOOST_AUTO_TEST_CASE(a_failed_test_handles_messages) {
  unit::WaitSettings policy = policy_of(WaitMode::automatic, nullptr);
  {
    const WaitingGuard guard(policy);
    messages = 0;
    test_failed();
    BOOST_CHECK_EQUAL(messages, 0);
  }
  policy.poll = [] { return ++messages > 0; };
  for (const bool crowded : {false, true}) {
    policy.crowded = crowded;
    const WaitingGuard guard(policy);
    messages = 0;
    test_failed();
    BOOST_CHECK_EQUAL(messages, 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()
