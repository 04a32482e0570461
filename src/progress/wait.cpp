#include "progress/wait.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/cpu_pause.hpp"
#include "base/futex.hpp"
#include "progress/core_sharing.hpp"
#include "progress/progress_thread.hpp"
#include "progress/steps.hpp"
#include "progress/threads.hpp"

namespace shmemx::progress {
namespace {

constexpr int kTurnsPerClock = 4;
constexpr std::uint32_t kPollsAfterMessage = 100;  // about as long as the sender takes to react
constexpr std::uint64_t kRoundTripNs = 5'000;      // of the fastest network; also where the core may be shared
constexpr int kPollsAfterWake = 50;
constexpr std::uint32_t kNetworkPollsAfterWake = 2;  // networks look everywhere at every second poll at the latest
constexpr std::uint64_t kLookAfterWakeNs = 3'000;
// Where a program that computes shares the core: about what it costs to be woken, so a wait costs twice the best.
constexpr std::uint64_t kBusySpinNs = 20'000;

bool poll_bare(PollFunction done, void* state, std::uint32_t polls) {
  for (; polls != 0; --polls) {
    if (is_done(done, state)) return true;
  }
  return false;
}

bool poll_paused(PollFunction done, void* state, std::uint32_t polls) {
  for (; polls != 0; --polls) {
    if (is_done(done, state)) return true;
    cpu_pause();
  }
  return false;
}

bool pause_once() {
  cpu_pause();
  return true;
}

// Returns how many polls follow a message at once. On cores that are not shared the sender needs some time to react. On
// shared ones the next poll takes what has arrived with the message, before the core is given away. A poll of networks
// takes all of it, and the next one acknowledges it.
std::uint32_t polls_after_message() {
  if (am::has_networks()) return 1;
  return policy().pause_polls != 0 ? kPollsAfterMessage : 1;
}

// Returns true if done, false if `ns` have passed without a message or kBetween() returned false. A sender of messages
// expects an answer soon and often sends the next one then, so it is not worth going to sleep between them. With
// networks the polls of the first microseconds follow each other at once: a yield may cost more than the message takes.
// A gap between two looks at the clock tells that this thread was preempted; there are none while messages come.
template <auto kBetween>
bool poll_for(PollFunction done, void* state, std::uint64_t ns) {
  std::uint64_t begin = now_ns();
  std::uint64_t last = begin;  // 0: some time before
  bool moved = false;
  const std::uint32_t polls_at_once = polls_after_message();
  const std::uint64_t early_ns = am::has_networks() && policy().pause_polls != 0 ? kRoundTripNs : 0;
  bool is_early = early_ns != 0 && !core_goes_round(begin);
  std::uint32_t at_once = 0;
  for (int turn = 1;; ++turn) {
    bool any = false;
    if (is_done(done, state, any)) return true;
    moved |= any;
    if (any) at_once = polls_at_once;
    if (at_once != 0) {
      --at_once;
      last = 0;
      continue;
    }
    if (!is_early && !kBetween()) return is_done(done, state);
    if (turn % kTurnsPerClock != 0) continue;
    const std::uint64_t now = now_ns();
    if (last == 0) last = now;
    if constexpr (kBetween == pause_once) note_preemption(last, now);
    if (moved) begin = now;
    moved = false;
    is_early = now - begin < early_ns && !core_goes_round(now);
    if (now - begin > ns) return is_done(done, state);
  }
}

// With very many PEs on a core what counts is how little each turn does.
bool sleeps_at_once() { return policy().crowded && policy().yield_ns == 0; }

// More messages often follow the first, but the sender may need a reply before it sends them, or this core. Returns
// true if done.
bool poll_after_wake(PollFunction done, void* state, Slept slept) {
  if (message_poll() == nullptr) return poll_paused(done, state, kPollsAfterWake);
  if (sleeps_at_once()) return poll_bare(done, state, kNetworkPollsAfterWake);
  const std::uint64_t look_ns = slept == Slept::until_woken && !core_is_wanted(now_ns()) ? policy().poll_ns : 0;
  return poll_for<pause_once>(done, state, std::max(look_ns, kLookAfterWakeNs));
}

// Never gives up the core, but looks now and then whether what it waits for can still come.
void spin_until_done(PollFunction done, void* state, const char* routine) {
  constexpr std::uint32_t kPollsBetweenLooks = 100'000;
  const Policy& how = policy();
  while (!poll_paused(done, state, kPollsBetweenLooks)) {
    if (how.on_sleep != nullptr) how.on_sleep(routine);
  }
  if (how.on_wake != nullptr) how.on_wake();
}

constinit bool may_sleep_long = false;

// Steps grow with the time that the wait has taken: a change without a wake-up is noticed later by a small part of it.
class Steps {
 public:
  ~Steps() {
    if (!is_long_) return;
    long_waits.fetch_sub(1, std::memory_order_seq_cst);               // long_wait
    if (policy().leave_polling != nullptr) policy().leave_polling();  // it looks seldom
  }
  std::uint64_t ns() const { return ns_; }
  void grow() {
    const std::uint64_t most = policy().sleep_max_ns;
    std::uint64_t longest = most;
    if (may_sleep_long && ns_ >= most)
      longest = std::max(most, std::min((now_ns() - begin_ns_) / kPartOfWait, kLongestStepNs));
    ns_ = std::min(2 * ns_, longest);
    if (ns_ <= most || std::exchange(is_long_, true)) return;
    long_waits.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kPartOfWait = 128;
  std::uint64_t ns_ = policy().sleep_first_ns;
  const std::uint64_t begin_ns_ = now_ns();
  bool is_long_ = false;
};

void sleep_until_done(PollFunction done, void* state, const char* routine) {
  const Policy& how = policy();
  Steps steps;
  while (true) {
    if (how.on_sleep != nullptr) how.on_sleep(routine);
    const Slept slept = sleep_once(done, state, steps.ns());
    if (slept == Slept::not_at_all) break;
    if (poll_after_wake(done, state, slept)) break;
    steps.grow();
  }
  // Other threads of this PE may still sleep. They are woken by their time-out at the latest.
  if (how.on_wake != nullptr) how.on_wake();
}

void note_cpu() {
  Doorbell* const doorbell = own_doorbell();
  const auto cpu = static_cast<std::uint32_t>(::sched_getcpu()) + 1;
  if (doorbell->cpu.load(std::memory_order_relaxed) != cpu) doorbell->cpu.store(cpu, std::memory_order_relaxed);
}

bool always_yield() {
  ::sched_yield();
  return true;
}

void wait_in_phases(PollFunction done, void* state, const char* routine) {
  const Policy& how = policy();
  if (how.mode == WaitMode::spin) return spin_until_done(done, state, routine);
  if (how.poll_ns == 0 && poll_paused(done, state, how.pause_polls)) return;
  if (own_doorbell() == nullptr) {  // before init
    poll_for<always_yield>(done, state, ~std::uint64_t{0});
    return;
  }
  if (!how.crowded) note_cpu();
  if (how.mode == WaitMode::automatic && !sleeps_at_once()) {
    if (core_is_busy(now_ns())) {
      if (!how.crowded && poll_for<pause_once>(done, state, kBusySpinNs)) return;
      part_from_pes();
    } else if (how.yield_ns != 0 && poll_for<yield_once>(done, state, how.yield_ns)) {
      return;
    }
  }
  sleep_until_done(done, state, routine);
}

}  // namespace

void let_long_waits_sleep(bool may) noexcept { may_sleep_long = may; }

// Those of a network are system calls; the policy counts time instead. Where waiters hand a core round, the next one
// may be about to send the message, so one poll comes before the core is given away: the policy's first one.
std::uint32_t polls_at_once() noexcept {
  constexpr std::uint32_t kNetworkPolls = 2;
  if (am::has_networks() && core_goes_round(now_ns())) return 0;
  if (policy().pause_polls == 0) return 1;
  return am::has_networks() ? kNetworkPolls : kMessagePolls;
}

void wait_slow(PollFunction done, void* state, const char* routine) noexcept {
  const Policy& how = policy();
  if (message_poll() == nullptr) return wait_in_phases(done, state, routine);
  // Messages bring the change, so the first polls were few: now some more without pause.
  if (how.pause_polls != 0 && (how.poll_ns == 0 || !core_is_shared(now_ns()))) {
    const bool found =
        how.poll_ns != 0 ? poll_for<pause_once>(done, state, how.poll_ns) : poll_bare(done, state, kMessagePolls);
    if (found) return;
  }
  threads_waiting.fetch_add(1, std::memory_order_relaxed);  // a hint for the progress threads
  wait_in_phases(done, state, routine);
  threads_waiting.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace shmemx::progress
