#include "progress/wait.hpp"

#include <sched.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/cpu_pause.hpp"
#include "base/timer_slack.hpp"
#include "progress/hints.hpp"
#include "progress/pace.hpp"
#include "progress/steps.hpp"
#include "stats/span.hpp"

namespace shmemx::progress {
namespace {

constexpr std::uint32_t kPollsAfterMessage = 100;  // about as long as the sender takes to react
constexpr std::uint64_t kRoundTripNs = 5'000;      // of the fastest network; also where the core may be shared
constexpr std::uint32_t kPollsAfterWake = 50;
constexpr std::uint32_t kNetworkPollsAfterWake = 2;  // networks look everywhere at every second poll at the latest
constexpr std::uint64_t kLookAfterWakeNs = 3'000;
constexpr std::uint32_t kSpinsBetweenLooks = 100'000;
// Where a program that computes shares the core: about what it costs to be woken, so a wait costs twice the best.
constexpr std::uint64_t kBusySpinNs = 20'000;

// Returns how many polls follow a message at once. On cores that are not shared the sender needs some time to react. On
// shared ones the next poll takes what has arrived with the message, before the core is given away. A poll of networks
// takes all of it, and the next one acknowledges it.
std::uint32_t polls_after_message() {
  if (am::has_networks()) return 1;
  return policy().pause_polls != 0 ? kPollsAfterMessage : 1;
}

// More messages often follow the one that has ended a sleep, but the sender may need a reply before it sends them, or
// this core.
void plan_wakes(Plan& plan, bool sleeps_at_once) {
  if (message_poll() == nullptr) {
    plan.woken = plan.looking = {Action::pause, kPollsAfterWake, 0};
  } else if (sleeps_at_once) {
    plan.woken = plan.looking = {Action::poll, kNetworkPollsAfterWake, 0};
  } else {
    plan.woken = {Action::pause, 0, std::max(policy().poll_ns, kLookAfterWakeNs)};
    plan.looking = {Action::pause, 0, kLookAfterWakeNs};
  }
}

Plan plan_of_wait() {
  const Policy& how = policy();
  Plan plan;
  // Messages bring the change, so the first polls were few: now some more without pause.
  if (message_poll() != nullptr && how.pause_polls != 0)
    plan.first = how.poll_ns != 0 ? Burst{Action::pause, 0, how.poll_ns} : Burst{Action::poll, kMessagePolls, 0};
  plan.is_crowded = how.crowded;
  plan.is_woken_directly = is_woken_directly();
  plan.early_ns = am::has_networks() && how.pause_polls != 0 ? kRoundTripNs : 0;
  if (how.mode == WaitMode::spin) {  // never gives up the core, but looks now and then whether it waits in vain
    plan.paused = plan.woken = plan.looking = {Action::pause, kSpinsBetweenLooks, 0};
    plan.sleep = {.first_ns = 0, .max_ns = 0};
    return plan;
  }
  if (how.poll_ns == 0) plan.paused = {Action::pause, how.pause_polls, 0};
  const bool sleeps_at_once =
      how.crowded && how.yield_ns == 0;  // with very many PEs each turn does as little as it can
  if (how.mode == WaitMode::automatic && !sleeps_at_once) {
    if (!how.crowded) plan.beside_program = {Action::pause, 0, kBusySpinNs};
    plan.yielding = {Action::yield, 0, how.yield_ns, how.unwoken.yield_ns};
  }
  plan_wakes(plan, sleeps_at_once);
  plan.sleep = how.sleep;
  plan.sleep.are_of_wait = true;
  return plan;
}

void note_cpu() {
  Doorbell* const doorbell = own_doorbell();
  const std::uint32_t cpu = this_cpu() + 1;
  if (doorbell->cpu.load(std::memory_order_relaxed) != cpu) doorbell->cpu.store(cpu, std::memory_order_relaxed);
}

// One wait of this thread, and what it tells others.
class Wait {
 public:
  Wait(PollFunction done, void* state, const char* routine, DescribeFunction describe)
      : done_(done), state_(state), routine_(routine), describe_(describe), pace_(plan_of_wait(), hints.cores) {}
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  void run();

 private:
  bool carry_out(const Step& step);
  bool poll(const Step& step);
  bool sleep(const Step& step);
  void look_at_clock();
  void tell_others();

  const PollFunction done_;
  void* const state_;
  const char* const routine_;
  const DescribeFunction describe_;
  Pace pace_;
  Seen seen_;
  TimerSlack timer_slack_;
  bool is_counted_ = false;  // in threads_waiting
  bool is_located_ = false;  // its CPU has been noted
  bool has_slept_ = false;
  bool is_long_ = false;  // counted in long_waits
};

// Other threads of this PE may still sleep. They are woken by their time-out at the latest.
Wait::~Wait() {
  const Hooks& hooks = policy().hooks;
  if (has_slept_ && hooks.on_wake != nullptr) hooks.on_wake();
  if (is_long_) {
    hints.long_waits.fetch_sub(1, std::memory_order_seq_cst);   // long_wait
    if (hooks.leave_polling != nullptr) hooks.leave_polling();  // it looks seldom
  }
  if (is_counted_) hints.threads_waiting.fetch_sub(1, std::memory_order_relaxed);
}

void Wait::look_at_clock() {
  seen_.now_ns = now_ns();
  seen_.cpu = this_cpu();
}

// The first polls are not worth it.
void Wait::tell_others() {
  if (pace_.phase() == Pace::Phase::first) return;
  if (!is_counted_ && message_poll() != nullptr) {
    hints.threads_waiting.fetch_add(1, std::memory_order_relaxed);
    is_counted_ = true;
  }
  if (is_located_ || policy().crowded || pace_.phase() == Pace::Phase::paused) return;
  note_cpu();
  is_located_ = true;
}

void Wait::run() {
  seen_.longest_ns = policy().unwoken.longest_sleep_ns;
  if (pace_.needs_clock()) look_at_clock();
  for (Step step = pace_.begin_wait(seen_); !carry_out(step); step = pace_.next(seen_)) {
  }
}

// Returns whether the wait is over.
bool Wait::carry_out(const Step& step) {
  tell_others();
  if (step.parts) part_from_pes();
  seen_.moved = false;
  seen_.yield_ns = 0;
  if (step.action == Action::sleep ? sleep(step) : poll(step)) return true;
  if (step.action != Action::yield) look_at_clock();
  return false;
}

bool Wait::poll(const Step& step) {
  std::uint32_t at_once = 0;
  for (std::uint32_t polls = step.polls; polls != 0;) {
    bool any = false;
    if (is_done(done_, state_, any)) return true;
    if (any) {
      seen_.moved = true;
      at_once = polls_after_message();
    }
    if (at_once != 0) {
      --at_once;
      continue;
    }
    if (step.action == Action::pause) cpu_pause();
    if (step.action == Action::yield) yield_once(seen_);
    --polls;
  }
  return false;
}

bool Wait::sleep(const Step& step) {
  const Policy& how = policy();
  if (step.polls != 0 && is_done(done_, state_)) return true;
  if (how.hooks.on_sleep != nullptr)
    how.hooks.on_sleep(routine_, describe_ != nullptr ? describe_(state_) : bootstrap::Awaited());
  if (!has_slept_ && seen_.longest_ns != kUntilWoken) timer_slack_.tighten();
  has_slept_ = true;
  seen_.slept = Slept::to_the_end;
  if (step.ns == 0) return false;
  if (step.ns > how.sleep.max_ns && !is_long_) {
    hints.long_waits.fetch_add(1, std::memory_order_relaxed);
    is_long_ = true;
  }
  seen_.slept = sleep_once(done_, state_, step.ns);
  return seen_.slept == Slept::not_at_all;
}

void wait_before_init(PollFunction done, void* state) {
  while (!is_done(done, state)) ::sched_yield();
}

}  // namespace

// Those of a network are system calls; the policy counts time instead. Where waiters hand a core round, the next one
// may be about to send the message, so one poll comes before the core is given away: the policy's first one.
std::uint32_t polls_at_once() noexcept {
  constexpr std::uint32_t kNetworkPolls = 2;
  if (am::has_networks() && hints.cores.goes_round(now_ns())) return 0;
  if (policy().pause_polls == 0) return 1;
  return am::has_networks() ? kNetworkPolls : kMessagePolls;
}

// The round trip of a fast network.
std::uint32_t looks_at_network() noexcept {
  constexpr std::uint32_t kNetworkLooks = 50;
  if (policy().pause_polls == 0 || hints.cores.goes_round(now_ns())) return 0;
  return kNetworkLooks;
}

void wait_slow(PollFunction done, void* state, const char* routine, DescribeFunction describe) noexcept {
  if (own_doorbell() == nullptr) return wait_before_init(done, state);
  const stats::RoutineSpan span(routine, stats::Family::wait);
  Wait(done, state, routine, describe).run();
}

}  // namespace shmemx::progress
