#include "progress/steps.hpp"

#include "base/clock.hpp"
#include "base/doorbell.hpp"
#include "base/futex.hpp"
#include "progress/core_sharing.hpp"

namespace shmemx::progress {
namespace {

bool awaits_node_peer() { return expected_pe >= 0 && !am::is_internode(expected_pe); }

// Returns whether no other thread of this PE has to run before a waiter that sleeps: it sleeps on the networks itself,
// or awaits the store of a node peer.
bool is_woken_directly() { return policy().sleep_on_networks != nullptr || awaits_node_peer(); }

// Returns whether another thread has to look for messages while this one sleeps for `ns`. The store of a node peer
// mostly comes during the first, short step: a progress thread that is woken before would take the core from that peer.
bool leaves_polling(std::uint64_t ns) {
  constexpr std::uint64_t kShortNs = 50'000;
  return policy().leave_polling != nullptr && (ns > kShortNs || !awaits_node_peer());
}

}  // namespace

void part_from_pes() {
  if (policy().part_from_pes != nullptr) policy().part_from_pes();
}

bool yield_once() {
  const Yielded yielded = yield_and_note();
  if (yielded == Yielded::beside_program) return false;
  if (yielded == Yielded::in_vain && is_woken_directly()) return false;
  if (policy().part_from_pes != nullptr && core_is_shared(now_ns())) part_from_pes();
  return true;
}

namespace {

// This thread no longer needs its mark: what it brings itself need not wake anybody. Others may have marked the
// doorbell at the same time. Edge mark: a thread counts itself before it marks the doorbell; this one clears the mark
// before it reads the count.
void take_mark_back(Doorbell& doorbell) {
  if (threads_marked.fetch_sub(1, std::memory_order_seq_cst) != 1) return;  // mark
  doorbell.sleepers.store(0, std::memory_order_seq_cst);                    // mark
  if (threads_marked.load(std::memory_order_seq_cst) != 0)                  // mark
    doorbell.sleepers.store(1, std::memory_order_seq_cst);                  // asleep
}

}  // namespace

Slept sleep_once(PollFunction done, void* state, std::uint64_t ns) {
  const Policy& how = policy();
  Doorbell& doorbell = *own_doorbell();
  const std::uint32_t seen = doorbell.wake_seq.load(std::memory_order_acquire);  // wake
  threads_marked.fetch_add(1, std::memory_order_seq_cst);                        // mark
  doorbell.sleepers.store(1, std::memory_order_seq_cst);                         // asleep
  if (is_done(done, state)) {
    threads_marked.fetch_sub(1, std::memory_order_relaxed);
    return Slept::not_at_all;
  }
  if (how.sleep_on_networks != nullptr) {
    const NetworkSleep slept = how.sleep_on_networks(seen, ns);
    if (slept != NetworkSleep::refused) {
      take_mark_back(doorbell);
      return slept == NetworkSleep::woken ? Slept::until_woken : Slept::to_the_end;
    }
  }
  threads_asleep.fetch_add(1, std::memory_order_seq_cst);  // hand_over
  if (leaves_polling(ns)) how.leave_polling();
  futex_sleep(doorbell.wake_seq, seen, ns, FutexScope::node);
  threads_asleep.fetch_sub(1, std::memory_order_relaxed);
  threads_marked.fetch_sub(1, std::memory_order_relaxed);
  return doorbell.wake_seq.load(std::memory_order_acquire) != seen ? Slept::until_woken : Slept::to_the_end;  // wake
}

}  // namespace shmemx::progress
