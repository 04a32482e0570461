#include "progress/pace.hpp"

#include <algorithm>

namespace shmemx::progress {
namespace {

constexpr std::uint32_t kPollsPerClock = 4;
constexpr std::uint64_t kPartOfWait = 128;  // long steps are that part of the time that the wait has taken
constexpr std::uint32_t kPollsOfLook = 2;   // where nothing wakes the thread, as many looks are in vain
constexpr std::uint64_t kAlarmRestNs = 500'000;

// The sleeps of a wait where nothing wakes it. Each costs its core some 15 us, and is about 30 us longer than asked
// for.
struct Polled {
  std::uint64_t first_part;  // of the longest sleep
  std::uint64_t rise_ns;     // they have grown to the longest one when the wait has slept that long
};
constexpr Polled kPolledAlone{50, 2'000'000'000};   // the wait has the core for itself
constexpr Polled kPolledBeside{20, 1'000'000'000};  // also the first part of a progress thread

}  // namespace

Yields::Effect Yields::note(CoreSharing& cores, std::uint64_t yield_ns, std::uint64_t now_ns, unsigned cpu) noexcept {
  cores.note_switch(yield_ns, now_ns, cpu);
  if (cores.is_busy(now_ns, cpu)) return Effect::beside_program;
  idle_ = yield_ns > kSwitchNs ? 0 : idle_ + 1;
  if (idle_ < cores.idle_yields_in_vain() || !cores.goes_round(now_ns)) return Effect::useful;
  idle_ = 0;
  cores.note_vain_yields(now_ns);
  return Effect::in_vain;
}

Step Pace::begin_wait(const Seen& seen) noexcept {
  const Burst& first = plan_.first;
  if (first.is_none() || (first.is_timed() && cores_.is_shared(seen.now_ns))) return enter_paused(seen);
  return enter(Phase::first, seen);
}

Step Pace::begin_thread() noexcept { return enter(Phase::aside, {}); }

bool Pace::needs_clock() const noexcept {
  return plan_.first.is_none() ? plan_.paused.polls == 0 : plan_.first.is_timed();
}

Step Pace::next(const Seen& seen) noexcept {
  moved_ |= seen.moved;
  if (seen.is_attended) return enter(Phase::aside, seen);
  switch (phase_) {
    case Phase::asleep:
      return after_sleep(seen);
    case Phase::resting:
      return wake_up(Slept::to_the_end, seen);
    case Phase::aside:
      return wake_up(Slept::called, seen);
    default:
      if (seen.yield_ns != 0) return after_yield(seen);
      return has_ended(seen) ? after_burst(seen) : turn(seen);
  }
}

// ---- bursts ----

const Burst& Pace::burst() const noexcept {
  switch (phase_) {
    case Phase::first:
      return plan_.first;
    case Phase::paused:
      return plan_.paused;
    case Phase::beside_program:
      return plan_.beside_program;
    case Phase::yielding:
      return plan_.yielding;
    case Phase::woken:
      return plan_.woken;
    default:
      return plan_.looking;
  }
}

Step Pace::enter(Phase phase, const Seen& seen) noexcept {
  phase_ = phase;
  if (phase == Phase::aside) return {.action = Action::aside};
  begin_ns_ = last_ns_ = seen.now_ns;
  moved_ = false;
  return turn(seen);
}

Step Pace::enter_paused(const Seen& seen) noexcept {
  return plan_.paused.is_none() ? wait_longer(seen) : enter(Phase::paused, seen);
}

Step Pace::wait_longer(const Seen& seen) noexcept {
  if (plan_.beside_program.is_none() && plan_.yielding.is_none()) return sleep(seen);
  if (!cores_.is_busy(seen.now_ns, seen.cpu))
    return plan_.yielding.is_none() ? sleep(seen) : enter(Phase::yielding, seen);
  if (!plan_.beside_program.is_none()) return enter(Phase::beside_program, seen);
  return sleep(seen);
}

Step Pace::wake_up(Slept slept, const Seen& seen) noexcept {
  slept_ = slept;
  const bool is_wanted = plan_.is_crowded || cores_.is_shared(seen.now_ns);
  const bool is_false = plan_.max_alarms != 0 && alarms_ >= plan_.max_alarms;
  Step step = enter(slept == Slept::to_the_end || is_wanted || is_false ? Phase::looking : Phase::woken, seen);
  if (slept == Slept::to_the_end && seen.longest_ns != kUntilWoken) step.polls = std::min(step.polls, kPollsOfLook);
  return step;
}

// A sender of messages expects an answer soon and often sends the next one then. With networks the polls of the first
// microseconds follow each other at once: a yield may cost more than the message takes.
Step Pace::turn(const Seen& seen) const noexcept {
  const Burst& now = burst();
  if (!now.is_timed()) return {.action = now.action, .polls = now.polls};
  const bool is_early = seen.now_ns - begin_ns_ < plan_.early_ns && !cores_.goes_round(seen.now_ns);
  if (!is_early && now.action == Action::yield) return {.action = Action::yield, .polls = 1};
  return {.action = is_early ? Action::poll : now.action, .polls = kPollsPerClock};
}

// A gap between two looks at the clock tells that this thread was preempted; there are none while messages arrive.
bool Pace::has_ended(const Seen& seen) noexcept {
  const Burst& now = burst();
  if (!now.is_timed()) return true;
  if (seen.moved) {
    begin_ns_ = last_ns_ = seen.now_ns;
  } else if (now.action == Action::pause) {
    cores_.note_preemption(last_ns_, seen.now_ns, seen.cpu);
  }
  return seen.now_ns - begin_ns_ > length_ns(seen);
}

// A sleep would notice late what has come. With as many cores as PEs, other threads on this one are few.
bool Pace::is_better_awake(const Seen& seen) const noexcept {
  return phase_ == Phase::yielding && seen.longest_ns != kUntilWoken && !plan_.is_crowded;
}

std::uint64_t Pace::length_ns(const Seen& seen) const noexcept {
  return is_better_awake(seen) ? std::max(burst().ns, burst().unwoken_ns) : burst().ns;
}

Step Pace::after_burst(const Seen& seen) noexcept {
  switch (phase_) {
    case Phase::first:
      return enter_paused(seen);
    case Phase::paused:
      return wait_longer(seen);
    case Phase::beside_program: {
      Step step = sleep(seen, 1);
      step.parts = true;
      return step;
    }
    case Phase::yielding:
      return sleep(seen, 1);
    default:
      return sleep_again(seen);
  }
}

Step Pace::after_yield(const Seen& seen) noexcept {
  const Yields::Effect effect = yields_.note(cores_, seen.yield_ns, seen.now_ns, seen.cpu);
  const bool is_vain = effect == Yields::Effect::in_vain && plan_.is_woken_directly && !is_better_awake(seen);
  if (effect == Yields::Effect::beside_program || is_vain || has_ended(seen)) return sleep(seen, 1);
  Step step = turn(seen);
  step.parts = cores_.is_shared(seen.now_ns);
  return step;
}

// ---- sleeps ----

Step Pace::after_sleep(const Seen& seen) noexcept {
  if (seen.slept == Slept::in_part) return sleep(seen);
  const bool is_refused = seen.slept == Slept::not_at_all && plan_.refused_is_aside;
  if (is_refused || seen.slept == Slept::called) return enter(Phase::aside, seen);
  return wake_up(seen.slept, seen);
}

Step Pace::sleep(const Seen& seen, std::uint32_t polls) noexcept {
  if (sleep_begin_ns_ == 0) sleep_begin_ns_ = seen.now_ns;
  phase_ = Phase::asleep;
  const std::uint64_t ns = seen.longest_ns == kUntilWoken ? sleep_ns_ : std::min(sleep_ns_, next_polled_ns(seen));
  return {.action = Action::sleep, .polls = polls, .ns = ns};
}

// Returns the length of the next sleep where nothing wakes the thread.
std::uint64_t Pace::next_polled_ns(const Seen& seen) noexcept {
  const std::uint64_t longest = seen.longest_ns;
  const bool is_alone = plan_.sleep.are_of_wait && !plan_.is_crowded && !cores_.is_shared(seen.now_ns);
  const Polled& polled = is_alone ? kPolledAlone : kPolledBeside;
  const std::uint64_t first = longest / polled.first_part;
  polled_ns_ = std::clamp(polled_ns_, first, longest);
  if (!plan_.sleep.are_of_wait) return polled_ns_;
  const std::uint64_t slept = std::min(seen.now_ns - sleep_begin_ns_, polled.rise_ns);
  return std::clamp(longest * slept / polled.rise_ns, first, polled_ns_);
}

Step Pace::sleep_again(const Seen& seen) noexcept {
  const std::uint32_t polls = burst().is_timed() ? 1 : 0;
  grow(seen);
  if (moved_) {
    alarms_ = 0;
  } else if (slept_ == Slept::until_woken && plan_.max_alarms != 0 && ++alarms_ >= plan_.max_alarms) {
    phase_ = Phase::resting;
    return {.action = Action::rest, .ns = kAlarmRestNs};
  }
  return sleep(seen, polls);
}

// Steps grow with the time that the wait has taken: a change without a wake-up is noticed later by a small part of it.
void Pace::grow(const Seen& seen) noexcept {
  polled_ns_ = moved_ || slept_ == Slept::called ? 0 : 2 * polled_ns_;
  const SleepSteps& steps = plan_.sleep;
  if (steps.begin_anew && slept_ != Slept::to_the_end) {
    sleep_ns_ = steps.first_ns;
    return;
  }
  std::uint64_t longest = steps.max_ns;
  if (steps.may_grow_long && sleep_ns_ >= longest)
    longest = std::max(longest, std::min((seen.now_ns - sleep_begin_ns_) / kPartOfWait, kLongestStepNs));
  sleep_ns_ = std::min(steps.growth * sleep_ns_, longest);
}

}  // namespace shmemx::progress
