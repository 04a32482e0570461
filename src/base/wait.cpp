#include "base/wait.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "base/clock.hpp"
#include "base/core_sharing.hpp"

namespace shmemx {
namespace {

constexpr std::uint64_t kFirstSleepNs = 50'000;
constexpr int kTurnsPerClock = 4;
constexpr int kPollsAfterWake = 50;
constexpr std::uint64_t kLookAfterWakeNs = 3'000;
// Where a program that computes shares the core: about what it costs to be woken, so a wait costs twice the best.
constexpr std::uint64_t kBusySpinNs = 20'000;
constexpr std::uint64_t kPreemptedNs = 500'000;  // handlers of messages take less

void futex_sleep(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t ns) {
  const timespec limit{static_cast<time_t>(ns / 1'000'000'000U), static_cast<long>(ns % 1'000'000'000U)};
  // Not FUTEX_PRIVATE: the wakers are other processes. EAGAIN, EINTR and time-out all mean: look again.
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, seen, &limit, nullptr, 0);
}

// Is it done, also after what messages bring? `moved`: some have come.
bool is_done(PollFunction done, void* state, bool& moved) {
  if (done(state)) return true;
  bool (*const poll)() = message_poll();
  if (poll == nullptr || !poll()) return false;
  moved = true;
  return done(state);
}
bool is_done(PollFunction done, void* state) {
  bool moved;
  return is_done(done, state, moved);
}

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

// Returns true if done, false if `ns` have passed without a message or kBetween() returned false. A sender of messages
// expects an answer soon, so it is not worth going to sleep between them. A gap between two looks at the clock tells
// that this thread was preempted.
template <auto kBetween>
bool poll_for(PollFunction done, void* state, std::uint64_t ns) {
  std::uint64_t begin = now_ns();
  std::uint64_t last = begin;
  bool moved = false;
  for (int turn = 1;; ++turn) {
    if (is_done(done, state, moved)) return true;
    if (!kBetween()) return is_done(done, state);
    if (turn % kTurnsPerClock != 0) continue;
    const std::uint64_t now = now_ns();
    if constexpr (kBetween == pause_once) {
      if (now - last > kPreemptedNs) note_switch(now - last, now);
    }
    last = now;
    if (moved) begin = now;
    moved = false;
    if (now - begin > ns) return is_done(done, state);
  }
}

// Never gives up the core, but looks now and then whether what it waits for can still come.
void spin_until_done(PollFunction done, void* state, const char* routine) {
  constexpr std::uint32_t kPollsBetweenLooks = 100'000;
  const WaitPolicy& policy = wait_policy();
  while (!poll_paused(done, state, kPollsBetweenLooks)) {
    if (policy.on_sleep != nullptr) policy.on_sleep(routine);
  }
  if (policy.on_wake != nullptr) policy.on_wake();
}

enum class Slept : std::uint8_t { not_at_all, to_the_end, until_woken };

// One sleep of at most `ns`; not at all if done.
Slept sleep_once(PollFunction done, void* state, std::uint64_t ns) {
  const WaitPolicy& policy = wait_policy();
  Doorbell& doorbell = *policy.own_doorbell;
  const std::uint32_t seen = doorbell.wake_seq.load(std::memory_order_acquire);  // wake
  doorbell.sleepers.store(1, std::memory_order_seq_cst);                         // doze
  if (is_done(done, state)) return Slept::not_at_all;
  if (policy.sleep_on_networks != nullptr) {
    const NetworkSleep slept = policy.sleep_on_networks(seen, ns);
    // What this thread itself brings need not wake anybody.
    if (threads_asleep.load(std::memory_order_relaxed) == 0) doorbell.sleepers.store(0, std::memory_order_relaxed);
    if (slept != NetworkSleep::refused) return slept == NetworkSleep::woken ? Slept::until_woken : Slept::to_the_end;
  }
  threads_asleep.fetch_add(1, std::memory_order_seq_cst);  // hand_over
  if (policy.leave_polling != nullptr) policy.leave_polling();
  futex_sleep(doorbell.wake_seq, seen, ns);
  threads_asleep.fetch_sub(1, std::memory_order_relaxed);
  return doorbell.wake_seq.load(std::memory_order_acquire) != seen ? Slept::until_woken : Slept::to_the_end;  // wake
}

void sleep_until_done(PollFunction done, void* state, const char* routine) {
  const WaitPolicy& policy = wait_policy();
  std::uint64_t step_ns = kFirstSleepNs;
  while (true) {
    if (policy.on_sleep != nullptr) policy.on_sleep(routine);
    const Slept slept = sleep_once(done, state, step_ns);
    if (slept == Slept::not_at_all) break;
    if (message_poll() != nullptr) {
      // What comes seldom comes alone, but its sender may wait for the answer and then send more.
      const std::uint64_t look_ns = slept == Slept::until_woken ? policy.poll_ns : 0;
      if (poll_for<pause_once>(done, state, std::max(look_ns, kLookAfterWakeNs))) break;
    } else if (poll_paused(done, state, kPollsAfterWake)) {
      break;
    }
    step_ns = step_ns * 2 < policy.sleep_max_ns ? step_ns * 2 : policy.sleep_max_ns;
  }
  // Other threads of this PE may still sleep. They are woken by their time-out at the latest.
  if (policy.on_wake != nullptr) policy.on_wake();
}

void note_cpu() {
  Doorbell* const doorbell = wait_policy().own_doorbell;
  const auto cpu = static_cast<std::uint32_t>(::sched_getcpu()) + 1;
  if (doorbell->cpu.load(std::memory_order_relaxed) != cpu) doorbell->cpu.store(cpu, std::memory_order_relaxed);
}

void part_from_pes() {
  if (wait_policy().part_from_pes != nullptr) wait_policy().part_from_pes();
}

bool always_yield() {
  ::sched_yield();
  return true;
}

// Between two looks of a waiter that expects to wait for longer. Returns false if it should sleep instead.
bool yield_once() {
  if (!yield_and_note()) return false;
  if (wait_policy().part_from_pes != nullptr && core_is_shared(now_ns())) part_from_pes();
  return true;
}

void wait_in_phases(PollFunction done, void* state, const char* routine) {
  const WaitPolicy& policy = wait_policy();
  if (policy.mode == WaitMode::spin) return spin_until_done(done, state, routine);
  if (policy.poll_ns == 0 && poll_paused(done, state, policy.pause_polls)) return;
  if (policy.own_doorbell == nullptr) {  // before init
    poll_for<always_yield>(done, state, ~std::uint64_t{0});
    return;
  }
  note_cpu();
  if (policy.mode == WaitMode::automatic) {
    if (core_is_busy(now_ns())) {
      if (!policy.crowded && poll_for<pause_once>(done, state, kBusySpinNs)) return;
      part_from_pes();
    } else if (poll_for<yield_once>(done, state, policy.yield_ns)) {
      return;
    }
  }
  sleep_until_done(done, state, routine);
}

}  // namespace

void wait_slow(PollFunction done, void* state, const char* routine) noexcept {
  const WaitPolicy& policy = wait_policy();
  if (message_poll() == nullptr) return wait_in_phases(done, state, routine);
  // What makes it come are messages, so the first polls were few: now some more without pause.
  constexpr std::uint32_t kBarePolls = 300;
  if (policy.pause_polls != 0 && (policy.poll_ns == 0 || !core_is_shared(now_ns()))) {
    const bool found =
        policy.poll_ns != 0 ? poll_for<pause_once>(done, state, policy.poll_ns) : poll_bare(done, state, kBarePolls);
    if (found) return;
  }
  threads_waiting.fetch_add(1, std::memory_order_relaxed);  // a hint for the progress agent
  wait_in_phases(done, state, routine);
  threads_waiting.fetch_sub(1, std::memory_order_relaxed);
}

namespace {

// A question that was asked before, with the same answer.
struct Question {
  const void* what;
  std::uint64_t answer;
  std::uint32_t count;
  std::uint64_t last_ns;  // when it was last asked; known from kTimedFrom on
};
constexpr std::size_t kQuestions = 16;  // a program may ask for several words in turn
constexpr std::uint32_t kTimedFrom = 8;
constexpr std::uint32_t kPatience = 16;        // questions in a row before the core is given away
constexpr std::uint32_t kPatienceAlone = 128;  // the same where no PE is known to need the core
constexpr std::uint64_t kBetweenNs = 5'000;    // a program that takes longer between two questions works
constexpr std::uint64_t kAskingSleepNs = 50'000;
constinit thread_local Question questions[kQuestions] = {};

Question& question_about(const void* what) {
  return questions[(reinterpret_cast<std::uintptr_t>(what) * 0x9e3779b97f4a7c15U) >> 60];
}

// Whoever asks again and again waits. What it waits for may be done by a PE that needs this core.
void give_way() {
  if (yield_once() || wait_policy().own_doorbell == nullptr) return;
  sleep_once([](void*) { return false; }, nullptr, kAskingSleepNs);
}

}  // namespace

void asked_in_vain(const void* what, std::uint64_t answer) noexcept {
  if (wait_policy().mode == WaitMode::spin) return;
  Question& question = question_about(what);
  if (question.what != what || question.answer != answer) {
    question = {what, answer, 1, 0};
    return;
  }
  if (++question.count < kTimedFrom) return;
  const std::uint32_t patience = wait_policy().crowded ? kPatience : kPatienceAlone;
  if (question.count > kTimedFrom && question.count < patience) return;
  const std::uint64_t now = now_ns();
  const std::uint64_t questions_since = question.count > patience ? 1 : patience - kTimedFrom;
  if (question.count == kTimedFrom) {
    question.last_ns = now;
  } else if (now - question.last_ns > questions_since * kBetweenNs) {
    question.count = 0;
  } else {
    give_way();
    question.last_ns = now_ns();
    // Where nobody has taken the core, it is offered less often: the program may just measure its questions.
    question.count = question.last_ns - now > kSwitchNs ? patience : kTimedFrom;
  }
}

void test_succeeded_slow() noexcept {
  if (bool (*const poll)() = message_poll()) poll();
  question_about(nullptr).count = 0;
}

void test_failed_slow() noexcept {
  if (bool (*const poll)() = message_poll()) poll();
  asked_in_vain(nullptr, 0);
}

void wake_sleepers(Doorbell& doorbell) noexcept {
  // Whoever takes the mark wakes; a stream of puts to a sleeping PE pays for one wake only.
  if (doorbell.sleepers.exchange(0, std::memory_order_acq_rel) == 0) return;
  doorbell.wake_seq.fetch_add(1, std::memory_order_release);  // wake
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&doorbell.wake_seq), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  if (wake_network_sleeper != nullptr && &doorbell == wait_policy().own_doorbell) wake_network_sleeper();
}

}  // namespace shmemx
