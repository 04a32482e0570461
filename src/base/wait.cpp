#include "base/wait.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "base/clock.hpp"

namespace shmemx {
namespace {

constexpr std::uint64_t kFirstSleepNs = 50'000;
constexpr int kTurnsPerClock = 4;
constexpr int kPollsAfterWake = 50;
constexpr std::uint64_t kLookAfterWakeNs = 3'000;
constexpr std::uint64_t kSwitchNs = 3'000;        // a yield that takes longer has let somebody else run
constexpr std::uint64_t kCompanyNs = 10'000'000;  // so long that one is expected to want the core again

// Until when this core is taken for shared. A hint: PEs of other jobs, hosts or containers are in no count of cores.
constinit std::atomic<std::uint64_t> company_until_ns{0};

void yield_and_look() {
  const std::uint64_t before = now_ns();
  ::sched_yield();
  const std::uint64_t after = now_ns();
  if (after - before > kSwitchNs) company_until_ns.store(after + kCompanyNs, std::memory_order_relaxed);
}

bool has_company() { return now_ns() < company_until_ns.load(std::memory_order_relaxed); }

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

// True when done; false when `ns` have passed without a message: who sends wants an answer soon, so it is not worth
// going to sleep between messages.
template <auto kBetween>
bool poll_for(PollFunction done, void* state, std::uint64_t ns) {
  std::uint64_t begin = now_ns();
  bool moved = false;
  for (int turn = 1;; ++turn) {
    if (is_done(done, state, moved)) return true;
    kBetween();
    if (turn % kTurnsPerClock != 0) continue;
    const std::uint64_t now = now_ns();
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

void sleep_until_done(PollFunction done, void* state, const char* routine) {
  WaitPolicy& policy = wait_policy();
  WaitFront& front = *policy.own_front;
  std::uint64_t step_ns = kFirstSleepNs;
  while (true) {
    if (policy.on_sleep != nullptr) policy.on_sleep(routine);
    const std::uint32_t seen = front.wake_seq.load(std::memory_order_acquire);  // wake
    front.sleepers.store(1, std::memory_order_seq_cst);                         // doze
    if (is_done(done, state)) break;
    threads_asleep.fetch_add(1, std::memory_order_relaxed);
    futex_sleep(front.wake_seq, seen, step_ns);
    threads_asleep.fetch_sub(1, std::memory_order_relaxed);
    if (message_poll() != nullptr) {
      if (poll_for<::sched_yield>(done, state, kLookAfterWakeNs)) break;
    } else if (poll_paused(done, state, kPollsAfterWake)) {
      break;
    }
    step_ns = step_ns * 2 < policy.sleep_max_ns ? step_ns * 2 : policy.sleep_max_ns;
  }
  // Other threads of this PE may still sleep. They are woken by their time-out at the latest.
  if (policy.on_wake != nullptr) policy.on_wake();
}

void wait_in_phases(PollFunction done, void* state, const char* routine) {
  const WaitPolicy& policy = wait_policy();
  if (policy.mode == WaitMode::spin) return spin_until_done(done, state, routine);
  if (policy.poll_ns == 0 && poll_paused(done, state, policy.pause_polls)) return;
  if (policy.mode == WaitMode::automatic || policy.own_front == nullptr) {
    const std::uint64_t yield_ns = policy.own_front == nullptr ? ~std::uint64_t{0} : policy.yield_ns;
    const bool found = policy.poll_ns != 0 ? poll_for<yield_and_look>(done, state, yield_ns)
                                           : poll_for<::sched_yield>(done, state, yield_ns);
    if (found) return;
  }
  sleep_until_done(done, state, routine);
}

}  // namespace

void wait_slow(PollFunction done, void* state, const char* routine) noexcept {
  const WaitPolicy& policy = wait_policy();
  if (message_poll() == nullptr) return wait_in_phases(done, state, routine);
  // What makes it come are messages, so the first polls were few: now some more without pause.
  constexpr std::uint32_t kBarePolls = 300;
  if (policy.pause_polls != 0 && (policy.poll_ns == 0 || !has_company())) {
    const bool found =
        policy.poll_ns != 0 ? poll_for<cpu_pause>(done, state, policy.poll_ns) : poll_bare(done, state, kBarePolls);
    if (found) return;
  }
  threads_waiting.fetch_add(1, std::memory_order_relaxed);  // a hint for the progress agent
  wait_in_phases(done, state, routine);
  threads_waiting.fetch_sub(1, std::memory_order_relaxed);
}

void give_way() noexcept {
  const WaitPolicy& policy = wait_policy();
  if (bool (*const poll)() = message_poll()) poll();
  if (policy.crowded) ::sched_yield();
}

void wake_sleepers(WaitFront& front) noexcept {
  // Whoever takes the mark wakes; a stream of puts to a sleeping PE pays for one wake only.
  if (front.sleepers.exchange(0, std::memory_order_acq_rel) == 0) return;
  front.wake_seq.fetch_add(1, std::memory_order_release);  // wake
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&front.wake_seq), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace shmemx
