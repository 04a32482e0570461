#include "progress/core_sharing.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/clock.hpp"
#include "progress/policy.hpp"

namespace shmemx::progress {
namespace {

constexpr std::uint64_t kSharedNs = 10'000'000;      // how long a switch is remembered
constexpr std::uint64_t kQuickNs = 100'000;          // between two switches of a core that PEs hand round
constexpr std::uint64_t kBusyMinNs = 10'000'000;     // how long a slice of another program is remembered: doubled each
constexpr std::uint64_t kBusyMaxNs = 1'000'000'000;  // time the next yield finds the program still there

constexpr int kIdleYields = 4;  // in a row, after which they are in vain

// Hints that any thread of the process may change, so relaxed: a lost update costs one more yield.
constinit std::atomic<std::uint64_t> shared_until_ns{0};
constinit std::atomic<std::uint64_t> round_until_ns{0};
// By CPU: the scheduler moves threads away from programs that compute, and towards them.
struct Busy {
  std::atomic<std::uint64_t> until_ns;
  std::atomic<std::uint64_t> memory_ns;
};
constexpr unsigned kBusyEntries = 16;  // CPUs whose numbers are equal modulo this share one
constinit Busy busy_table[kBusyEntries] = {};
constinit std::atomic<std::uint64_t> turn_ns{kDefaultTurnNs};
constinit thread_local int idle_yields = 0;  // in a row

Busy& busy_here() {
  const int cpu = ::sched_getcpu();
  return busy_table[static_cast<unsigned>(cpu < 0 ? 0 : cpu) % kBusyEntries];
}

bool is_busy(const Busy& busy, std::uint64_t now_ns) { return now_ns < busy.until_ns.load(std::memory_order_relaxed); }

void note_slice(Busy& busy, std::uint64_t now_ns) {
  std::uint64_t memory = busy.memory_ns.load(std::memory_order_relaxed);
  if (!is_busy(busy, now_ns)) {
    memory = std::clamp(2 * memory, kBusyMinNs, kBusyMaxNs);
    busy.memory_ns.store(memory, std::memory_order_relaxed);
  }
  busy.until_ns.store(now_ns + memory, std::memory_order_relaxed);
}

}  // namespace

void set_turn_ns(std::uint64_t ns) noexcept { turn_ns.store(ns, std::memory_order_relaxed); }

bool note_preemption(std::uint64_t& last_ns, std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t kPreemptedNs = 500'000;  // handlers of messages take less
  const std::uint64_t away = now_ns - std::exchange(last_ns, now_ns);
  if (away <= kPreemptedNs) return false;
  note_switch(away, now_ns);
  return true;
}

void note_switch(std::uint64_t away_ns, std::uint64_t now_ns) noexcept {
  if (away_ns > kSwitchNs) {
    const std::uint64_t before = shared_until_ns.exchange(now_ns + kSharedNs, std::memory_order_relaxed);
    if (now_ns + kSharedNs - before < away_ns + kQuickNs)
      round_until_ns.store(now_ns + kSharedNs, std::memory_order_relaxed);
  }
  Busy& busy = busy_here();
  if (away_ns > turn_ns.load(std::memory_order_relaxed)) return note_slice(busy, now_ns);
  if (busy.memory_ns.load(std::memory_order_relaxed) != 0 && !is_busy(busy, now_ns))
    busy.memory_ns.store(0, std::memory_order_relaxed);
}

bool core_is_shared(std::uint64_t now_ns) noexcept { return now_ns < shared_until_ns.load(std::memory_order_relaxed); }

bool core_goes_round(std::uint64_t now_ns) noexcept { return now_ns < round_until_ns.load(std::memory_order_relaxed); }

bool core_is_wanted(std::uint64_t now_ns) noexcept { return policy().crowded || core_is_shared(now_ns); }

bool core_is_busy(std::uint64_t now_ns) noexcept { return is_busy(busy_here(), now_ns); }

bool yields_in_vain(std::uint64_t away_ns, std::uint64_t now_ns) noexcept {
  idle_yields = away_ns > kSwitchNs ? 0 : idle_yields + 1;
  if (idle_yields < kIdleYields || !core_goes_round(now_ns)) return false;
  idle_yields = 0;
  return true;
}

void forget_core_sharing() noexcept {
  idle_yields = 0;
  shared_until_ns.store(0, std::memory_order_relaxed);
  round_until_ns.store(0, std::memory_order_relaxed);
  for (Busy& busy : busy_table) {
    busy.until_ns.store(0, std::memory_order_relaxed);
    busy.memory_ns.store(0, std::memory_order_relaxed);
  }
}

Yielded yield_and_note() noexcept {
  const std::uint64_t before = now_ns();
  ::sched_yield();
  const std::uint64_t after = now_ns();
  note_switch(after - before, after);
  if (core_is_busy(after)) return Yielded::beside_program;
  return yields_in_vain(after - before, after) ? Yielded::in_vain : Yielded::usefully;
}

}  // namespace shmemx::progress
