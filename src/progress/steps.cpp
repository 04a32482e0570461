#include "progress/steps.hpp"

#include <sched.h>

#include "base/clock.hpp"
#include "base/doorbell.hpp"
#include "base/futex.hpp"
#include "progress/hints.hpp"

namespace shmemx::progress {
namespace {

bool awaits_node_peer() { return expected_pe >= 0 && !am::is_internode(expected_pe); }

bool sleeps_on_networks() {
  const Hooks& hooks = policy().hooks;
  if (hooks.sleep_on_networks == nullptr) return false;
  return !hooks.only_for_other_nodes || (expected_pe >= 0 && am::is_internode(expected_pe));
}

// Returns whether another thread has to look for messages while this one sleeps for `ns`. The store of a node peer
// mostly comes during the first, short step: a progress thread that is woken before would take the core from that peer.
bool leaves_polling(std::uint64_t ns) {
  constexpr std::uint64_t kShortNs = 50'000;
  return policy().hooks.leave_polling != nullptr && (ns > kShortNs || !awaits_node_peer());
}

// This thread no longer needs its mark: what it brings itself need not wake anybody. Others may have marked the
// doorbell at the same time. Edge mark: a thread counts itself before it marks the doorbell; this one clears the mark
// before it reads the count.
void take_mark_back(Doorbell& doorbell) {
  if (hints.threads_marked.fetch_sub(1, std::memory_order_seq_cst) != 1) return;  // mark
  doorbell.sleepers.store(0, std::memory_order_seq_cst);                          // mark
  if (hints.threads_marked.load(std::memory_order_seq_cst) != 0)                  // mark
    doorbell.sleepers.store(1, std::memory_order_seq_cst);                        // asleep
}

}  // namespace

bool is_woken_directly() { return sleeps_on_networks() || awaits_node_peer(); }

void part_from_pes() {
  if (policy().hooks.part_from_pes != nullptr) policy().hooks.part_from_pes();
}

void yield_once(Seen& seen) {
  const std::uint64_t before = now_ns();
  ::sched_yield();
  seen.now_ns = now_ns();
  seen.cpu = this_cpu();
  seen.yield_ns = seen.now_ns - before;
}

Slept sleep_once(PollFunction done, void* state, std::uint64_t ns) {
  const Hooks& hooks = policy().hooks;
  Doorbell& doorbell = *own_doorbell();
  const std::uint32_t seen = doorbell.wake_seq.load(std::memory_order_acquire);  // wake
  hints.threads_marked.fetch_add(1, std::memory_order_seq_cst);                  // mark
  doorbell.sleepers.store(1, std::memory_order_seq_cst);                         // asleep
  if (is_done(done, state)) {
    hints.threads_marked.fetch_sub(1, std::memory_order_relaxed);
    return Slept::not_at_all;
  }
  if (sleeps_on_networks()) {
    const Slept slept = hooks.sleep_on_networks(seen, ns);
    if (slept != Slept::not_at_all) {
      take_mark_back(doorbell);
      return slept;
    }
  }
  hints.threads_asleep.fetch_add(1, std::memory_order_seq_cst);  // hand_over
  if (leaves_polling(ns)) hooks.leave_polling();
  futex_sleep(doorbell.wake_seq, seen, ns, FutexScope::node);
  hints.threads_asleep.fetch_sub(1, std::memory_order_relaxed);
  hints.threads_marked.fetch_sub(1, std::memory_order_relaxed);
  return doorbell.wake_seq.load(std::memory_order_acquire) != seen ? Slept::until_woken : Slept::to_the_end;  // wake
}

}  // namespace shmemx::progress
