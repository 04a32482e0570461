#include "progress/pace.hpp"

#include <boost/test/unit_test.hpp>
#include <ostream>
#include <vector>

namespace shmemx::progress {

std::ostream& operator<<(std::ostream& out, const Step& step) {
  constexpr const char* kNames[] = {"poll", "pause", "yield", "sleep", "rest", "aside"};
  return out << kNames[static_cast<int>(step.action)] << " polls " << step.polls << " ns " << step.ns
             << (step.parts ? " parts" : "");
}

}  // namespace shmemx::progress

BOOST_AUTO_TEST_SUITE(progress_pace)

namespace {

using namespace shmemx::progress;

constexpr std::uint64_t kUs = 1000;
constexpr std::uint64_t kMs = 1000 * kUs;
constexpr std::uint64_t kSlice = 3 * kMs;
constexpr std::uint64_t kStart = 1'000'000 * kMs;

// What the thread sees after a step, and the step that follows. Times since the row before; a row's clock goes on by
// the length of a sleep that went to its end.
struct Row {
  Seen seen;
  Step then;
};

constexpr Seen after(std::uint64_t ns) { return {.now_ns = ns}; }
constexpr Seen yielded(std::uint64_t ns) { return {.now_ns = ns, .yield_ns = ns}; }
constexpr Seen moved(std::uint64_t ns) { return {.now_ns = ns, .moved = true}; }
constexpr Seen slept(Slept how, std::uint64_t ns = 0) { return {.now_ns = ns, .slept = how}; }
constexpr Seen attended() { return {.is_attended = true}; }

constexpr Step poll(std::uint32_t polls) { return {.action = Action::poll, .polls = polls}; }
constexpr Step pause(std::uint32_t polls) { return {.action = Action::pause, .polls = polls}; }
constexpr Step yield(bool parts = false) { return {.action = Action::yield, .polls = 1, .parts = parts}; }
constexpr Step asleep(std::uint64_t ns, std::uint32_t polls = 0, bool parts = false) {
  return {.action = Action::sleep, .polls = polls, .ns = ns, .parts = parts};
}
constexpr Step rest(std::uint64_t ns) { return {.action = Action::rest, .ns = ns}; }
constexpr Step aside() { return {.action = Action::aside}; }

// A thread that goes through a table. `longest_ns` is what each row allows.
class Thread {
 public:
  explicit Thread(const Plan& plan, std::uint64_t longest_ns = kUntilWoken)
      : longest_ns_(longest_ns), pace_(plan, cores) {}

  Step begin_wait() { return last_ = pace_.begin_wait({.now_ns = now, .longest_ns = longest_ns_}); }
  Step begin_thread() { return last_ = pace_.begin_thread(); }
  Step next(Seen seen) {
    now += seen.now_ns;
    if (last_.action == Action::sleep && seen.slept == Slept::to_the_end) now += last_.ns;
    seen.now_ns = now;
    seen.longest_ns = longest_ns_;
    return last_ = pace_.next(seen);
  }
  void follow(const std::vector<Row>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      BOOST_TEST_CONTEXT("row " << i) { BOOST_CHECK_EQUAL(next(rows[i].seen), rows[i].then); }
    }
  }
  bool needs_clock() const { return pace_.needs_clock(); }

  // Another process runs on this core, too; a program computes there; PEs hand the core round.
  void share_core() { cores.note_switch(20 * kUs, now, 0); }
  void occupy_core() { cores.note_switch(kSlice, now, 0); }
  void hand_core_round() {
    cores.note_switch(20 * kUs, now - 50 * kUs, 0);
    cores.note_switch(20 * kUs, now, 0);
  }

  CoreSharing cores;
  std::uint64_t now = kStart;

 private:
  std::uint64_t longest_ns_;
  Step last_;
  Pace pace_;
};

// Of a wait for a store of a node peer.
Plan plan_for_store() {
  Plan plan;
  plan.sleep.are_of_wait = true;
  plan.paused = {Action::pause, 80, 0};
  plan.beside_program = {Action::pause, 0, 20 * kUs};
  plan.yielding = {Action::yield, 0, 200 * kUs};
  plan.woken = plan.looking = {Action::pause, 50, 0};
  return plan;
}

// Of a wait for a message over a network.
Plan plan_for_message() {
  Plan plan;
  plan.first = {Action::pause, 0, 12 * kUs};
  plan.beside_program = {Action::pause, 0, 20 * kUs};
  plan.yielding = {Action::yield, 0, 200 * kUs};
  plan.woken = {Action::pause, 0, 12 * kUs};
  plan.looking = {Action::pause, 0, 3 * kUs};
  plan.early_ns = 5 * kUs;
  return plan;
}

Plan plan_of_thread() {
  Plan plan;
  plan.woken = {Action::pause, 50, 0};
  plan.looking = {Action::pause, 4, 0};
  plan.sleep = {.first_ns = 2000 * kMs, .max_ns = 2000 * kMs};
  plan.max_alarms = 3;
  plan.refused_is_aside = true;
  return plan;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_wait_pauses_then_yields_then_sleeps_in_doubling_steps) {
  Thread thread(plan_for_store());
  BOOST_CHECK(!thread.needs_clock());
  BOOST_CHECK_EQUAL(thread.begin_wait(), pause(80));
  thread.follow({{after(2 * kUs), yield()},
                 {yielded(kUs), yield()},
                 {yielded(kUs), yield()},
                 {yielded(kUs), yield()},
                 {yielded(kUs), yield()},  // nobody needs this core, so it is not in vain
                 {after(200 * kUs), asleep(50 * kUs, 1)},
                 {slept(Slept::to_the_end), pause(50)},
                 {after(kUs), asleep(100 * kUs)},
                 {slept(Slept::until_woken), pause(50)},
                 {after(kUs), asleep(200 * kUs)},
                 {slept(Slept::to_the_end), pause(50)},
                 {after(kUs), asleep(400 * kUs)},
                 {slept(Slept::to_the_end), pause(50)},
                 {after(kUs), asleep(800 * kUs)},
                 {slept(Slept::to_the_end), pause(50)},
                 {after(kUs), asleep(kMs)},
                 {slept(Slept::to_the_end), pause(50)},
                 {after(kUs), asleep(kMs)}});
}

BOOST_AUTO_TEST_CASE(steps_of_long_waits_grow_with_the_wait) {
  Plan plan = plan_for_store();
  plan.sleep.may_grow_long = true;
  plan.sleep.first_ns = kMs;
  Thread thread(plan);
  thread.begin_wait();
  thread.follow({{after(0), yield()}, {yielded(201 * kUs), asleep(kMs, 1)}});
  const auto step_after = [&](std::uint64_t ns) {
    thread.next(slept(Slept::until_woken, ns));
    return thread.next(after(0)).ns;
  };
  BOOST_CHECK_EQUAL(step_after(128 * kMs), kMs);
  BOOST_CHECK_EQUAL(step_after(64 * kMs), kMs + kMs / 2);
  BOOST_CHECK_EQUAL(step_after(10'000 * kMs), 3 * kMs);
  for (int i = 0; i < 5; ++i) step_after(0);
  BOOST_CHECK_EQUAL(step_after(0), kLongestStepNs);
}

BOOST_AUTO_TEST_CASE(a_wait_beside_a_program_spins_for_a_wake_up_and_sleeps_elsewhere) {
  Thread thread(plan_for_store());
  thread.occupy_core();
  thread.begin_wait();
  thread.follow(
      {{after(2 * kUs), pause(4)}, {after(10 * kUs), pause(4)}, {after(11 * kUs), asleep(50 * kUs, 1, true)}});
}

BOOST_AUTO_TEST_CASE(a_yield_of_a_time_slice_is_the_last) {
  Thread thread(plan_for_store());
  thread.begin_wait();
  thread.follow({{after(2 * kUs), yield()}, {yielded(kSlice), asleep(50 * kUs, 1)}});
}

BOOST_AUTO_TEST_CASE(a_yield_that_let_another_pe_run_parts_from_it) {
  Thread thread(plan_for_store());
  thread.begin_wait();
  thread.follow({{after(2 * kUs), yield()}, {yielded(20 * kUs), yield(true)}});
}

BOOST_AUTO_TEST_CASE(yields_are_in_vain_if_several_let_nobody_run_on_a_core_that_goes_round) {
  for (const bool is_woken_directly : {true, false}) {
    Plan plan = plan_for_store();
    plan.is_woken_directly = is_woken_directly;
    Thread thread(plan);
    thread.hand_core_round();
    thread.begin_wait();
    thread.follow({{after(0), yield()},
                   {yielded(400), yield(true)},
                   {yielded(400), yield(true)},
                   {yielded(20 * kUs), yield(true)},  // somebody has run
                   {yielded(400), yield(true)},
                   {yielded(400), yield(true)},
                   {yielded(400), yield(true)},
                   {yielded(400), is_woken_directly ? asleep(50 * kUs, 1) : yield(true)}});
  }
}

BOOST_AUTO_TEST_CASE(with_many_pes_on_a_core_a_wait_sleeps_at_once) {
  Plan plan;
  plan.is_crowded = true;
  plan.woken = plan.looking = {Action::poll, 2, 0};
  Thread thread(plan);
  BOOST_CHECK(thread.needs_clock());
  BOOST_CHECK_EQUAL(thread.begin_wait(), asleep(50 * kUs));
  thread.follow({{slept(Slept::until_woken), poll(2)}, {after(0), asleep(100 * kUs)}});
}

BOOST_AUTO_TEST_CASE(a_crowded_wait_beside_a_program_sleeps) {
  Plan plan = plan_for_store();
  plan.beside_program = {};
  Thread thread(plan);
  thread.occupy_core();
  thread.begin_wait();
  thread.follow({{after(0), asleep(50 * kUs)}});
}

BOOST_AUTO_TEST_CASE(a_wait_for_a_message_begins_with_polls_at_once_and_anew_with_each_message) {
  Thread thread(plan_for_message());
  BOOST_CHECK(thread.needs_clock());
  BOOST_CHECK_EQUAL(thread.begin_wait(), poll(4));
  thread.follow({{after(4 * kUs), poll(4)},
                 {after(2 * kUs), pause(4)},
                 {moved(5 * kUs), poll(4)},
                 {after(10 * kUs), pause(4)},
                 {after(3 * kUs), poll(4)},  // first of the yielding phase
                 {after(6 * kUs), yield()},
                 {moved(kUs), poll(4)}});
}

BOOST_AUTO_TEST_CASE(on_a_shared_core_a_wait_for_a_message_yields_first) {
  Thread thread(plan_for_message());
  thread.hand_core_round();
  BOOST_CHECK_EQUAL(thread.begin_wait(), yield());
}

BOOST_AUTO_TEST_CASE(a_woken_wait_polls_longer_unless_others_need_the_core) {
  for (const bool is_shared : {false, true}) {
    Thread thread(plan_for_message());
    thread.hand_core_round();
    thread.begin_wait();
    thread.follow({{yielded(kSlice), asleep(50 * kUs, 1)}});
    thread.now += 1000 * kMs;
    if (is_shared) thread.share_core();
    thread.follow({{slept(Slept::until_woken), poll(4)}, {after(4 * kUs), is_shared ? asleep(100 * kUs, 1) : poll(4)}});
  }
}

BOOST_AUTO_TEST_CASE(a_gap_between_polls_is_a_preemption_unless_messages_have_come) {
  for (const bool by_messages : {false, true}) {
    Thread thread(plan_for_message());
    thread.begin_wait();
    thread.next(by_messages ? moved(kSlice) : after(kSlice));
    BOOST_CHECK_EQUAL(thread.cores.is_busy(thread.now, 0), !by_messages);
  }
}

BOOST_AUTO_TEST_CASE(a_spinning_wait_looks_whether_it_waits_in_vain_and_never_sleeps) {
  Plan plan;
  plan.paused = plan.woken = plan.looking = {Action::pause, 1000, 0};
  plan.sleep = {.first_ns = 0, .max_ns = 0};
  Thread thread(plan);
  BOOST_CHECK_EQUAL(thread.begin_wait(), pause(1000));
  thread.follow({{after(kUs), asleep(0)}, {after(0), pause(1000)}, {after(kUs), asleep(0)}});
}

// ---- where nothing wakes the thread ----

BOOST_AUTO_TEST_CASE(what_nothing_wakes_sleeps_in_steps_that_begin_anew_when_something_has_moved) {
  Thread wait(plan_for_store(), kMs);
  wait.begin_wait();
  wait.follow({{after(0), yield()},
               {after(201 * kUs), asleep(20 * kUs, 1)},
               {slept(Slept::to_the_end), pause(2)},
               {after(kUs), asleep(20 * kUs)},
               {slept(Slept::to_the_end), pause(2)},
               {after(120 * kMs), asleep(120'041 * kUs / 2000)},
               {slept(Slept::to_the_end), pause(2)},
               {moved(kUs), asleep(20 * kUs)},
               {slept(Slept::to_the_end), pause(2)},
               {after(5000 * kMs), asleep(40 * kUs)},
               {slept(Slept::to_the_end), pause(2)},
               {after(0), asleep(80 * kUs)}});
  Thread thread(plan_of_thread(), kMs);
  thread.begin_thread();
  thread.follow({{after(0), pause(50)},
                 {after(0), asleep(50 * kUs)},
                 {slept(Slept::to_the_end), pause(2)},
                 {after(0), asleep(100 * kUs)},
                 {slept(Slept::to_the_end), pause(2)},
                 {moved(0), asleep(50 * kUs)}});
}

BOOST_AUTO_TEST_CASE(what_nothing_wakes_wakes_seldom_in_long_waits) {
  Plan plan = plan_for_store();
  plan.sleep.may_grow_long = true;
  for (const bool is_wait : {true, false}) {
    Thread thread(is_wait ? plan : plan_of_thread(), kMs);
    Step step = is_wait ? thread.begin_wait() : thread.begin_thread();
    std::uint64_t sleeps = 0;
    std::uint64_t longest = 0;
    while (thread.now < kStart + 10'000 * kMs) {
      if (step.action == Action::sleep) ++sleeps;
      longest = std::max(longest, step.ns);
      const Seen woken = after(50 * kUs);  // later than asked for
      step = thread.next(step.action == Action::yield   ? yielded(50 * kUs)
                         : step.action == Action::sleep ? woken
                                                        : after(0));
    }
    BOOST_CHECK_EQUAL(longest, kMs);
    // At 20 us each a part in 25 of a core, and in 50.
    BOOST_CHECK_LT(sleeps, is_wait ? 20'000U : 10'100U);
  }
}

// Whatever changes is noticed after a small part of the time that the wait has taken, a larger one on a shared core.
BOOST_AUTO_TEST_CASE(what_nothing_wakes_looks_after_a_part_of_the_time_that_it_has_waited) {
  Plan plan = plan_for_store();
  plan.sleep.first_ns = kMs;
  for (const bool is_shared : {false, true}) {
    Thread wait(plan, kMs);
    wait.begin_wait();
    wait.next(after(0));
    Step step = wait.next(after(201 * kUs));
    BOOST_CHECK_EQUAL(step.ns, 20 * kUs);
    const std::uint64_t begin = wait.now;
    while (wait.now < begin + 500 * kMs) {
      if (is_shared) wait.share_core();
      step = wait.next(after(50 * kUs));
    }
    const std::uint64_t part = (wait.now - begin) / (is_shared ? 1000 : 2000);
    if (step.action != Action::sleep) step = wait.next(after(0));
    BOOST_CHECK_EQUAL(step.ns, part);
  }
}

BOOST_AUTO_TEST_CASE(a_wait_that_nothing_wakes_yields_for_longer_unless_pes_outnumber_cores) {
  Plan plan = plan_for_store();
  plan.yielding.unwoken_ns = 100 * kMs;
  plan.is_woken_directly = true;
  Thread wait(plan, kMs);
  wait.begin_wait();
  wait.next(after(0));
  wait.hand_core_round();
  for (int i = 0; i < 8; ++i) BOOST_CHECK_EQUAL(wait.next(yielded(kUs)), yield(true));  // not in vain
  wait.follow({{after(99 * kMs), yield()}, {after(kMs), asleep(20 * kUs, 1)}});
  Thread woken(plan);
  woken.begin_wait();
  woken.follow({{after(0), yield()}, {after(201 * kUs), asleep(50 * kUs, 1)}});
  plan.is_crowded = true;
  Thread crowded(plan, kMs);
  crowded.begin_wait();
  crowded.follow({{after(0), yield()}, {after(201 * kUs), asleep(50 * kUs, 1)}});
}

// ---- progress threads ----

BOOST_AUTO_TEST_CASE(a_progress_thread_stands_aside_while_others_work) {
  Thread thread(plan_of_thread());
  BOOST_CHECK_EQUAL(thread.begin_thread(), aside());
  thread.follow({{attended(), aside()},
                 {attended(), aside()},
                 {after(0), pause(50)},
                 {attended(), aside()},
                 {after(0), pause(50)},
                 {after(0), asleep(2000 * kMs)},
                 {attended(), aside()}});
}

BOOST_AUTO_TEST_CASE(what_follows_a_sleep_of_a_progress_thread) {
  const struct {
    Slept how;
    Step then;
  } kRows[] = {{Slept::not_at_all, aside()},
               {Slept::in_part, asleep(2000 * kMs)},
               {Slept::called, aside()},
               {Slept::to_the_end, pause(4)},
               {Slept::until_woken, pause(50)}};
  for (const auto& row : kRows) {
    Thread thread(plan_of_thread());
    thread.begin_thread();
    thread.follow({{after(0), pause(50)}, {after(0), asleep(2000 * kMs)}, {slept(row.how), row.then}});
  }
}

BOOST_AUTO_TEST_CASE(on_a_core_that_others_need_a_progress_thread_polls_less) {
  Thread thread(plan_of_thread());
  thread.begin_thread();
  thread.share_core();
  thread.follow({{after(0), pause(4)}});
}

BOOST_AUTO_TEST_CASE(after_false_alarms_in_a_row_a_progress_thread_rests_until_a_message_arrives) {
  Thread thread(plan_of_thread());
  thread.begin_thread();
  const Step forever = asleep(2000 * kMs);
  const Seen woken = slept(Slept::until_woken);
  thread.follow({{after(0), pause(50)},
                 {after(0), forever},
                 {woken, pause(50)},
                 {after(0), forever},
                 {woken, pause(50)},
                 {after(0), forever},
                 {woken, pause(50)},
                 {after(0), rest(500 * kUs)},
                 {after(0), pause(4)},
                 {after(0), forever},
                 {woken, pause(4)},
                 {after(0), rest(500 * kUs)},
                 {after(0), pause(4)},
                 {moved(0), forever},
                 {woken, pause(50)}});
}

// Of the node: a sender and this thread may miss each other, so its first sleep is short.
BOOST_AUTO_TEST_CASE(sleeps_begin_anew_after_a_wake_up_if_the_plan_says_so) {
  Plan plan = plan_of_thread();
  plan.refused_is_aside = false;
  plan.sleep = {.first_ns = kMs, .max_ns = 2000 * kMs, .growth = 2000, .begin_anew = true};
  Thread thread(plan);
  thread.begin_thread();
  thread.follow({{after(0), pause(50)},
                 {after(0), asleep(kMs)},
                 {slept(Slept::to_the_end), pause(4)},
                 {after(0), asleep(2000 * kMs)},
                 {slept(Slept::not_at_all), pause(50)},
                 {after(0), asleep(kMs)}});
}

BOOST_AUTO_TEST_SUITE_END()
