#include "progress/core_sharing.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

namespace shmemx::progress {
namespace {

constexpr std::uint64_t kSharedNs = 10'000'000;      // how long a switch is remembered
constexpr std::uint64_t kQuickNs = 100'000;          // between two switches of a core that PEs hand round
constexpr std::uint64_t kBusyMinNs = 10'000'000;     // how long a slice of another program is remembered: doubled each
constexpr std::uint64_t kBusyMaxNs = 1'000'000'000;  // time the next yield finds the program still there
constexpr std::uint64_t kVainMinNs = 10'000'000;     // how long yields in vain are remembered, in the same way
constexpr std::uint64_t kVainMaxNs = 500'000'000;
constexpr int kIdleYields = 4;   // in a row, after which they are in vain
constexpr int kVainWaits = 8;    // after which one is enough
constexpr int kUsefulYield = 2;  // outweighs that number of waits

}  // namespace

void CoreSharing::note_slice(Busy& busy, std::uint64_t now_ns) noexcept {
  std::uint64_t memory = busy.memory_ns.load(std::memory_order_relaxed);
  if (!is_busy(busy, now_ns)) {
    memory = std::clamp(2 * memory, kBusyMinNs, kBusyMaxNs);
    busy.memory_ns.store(memory, std::memory_order_relaxed);
  }
  busy.until_ns.store(now_ns + memory, std::memory_order_relaxed);
}

void CoreSharing::note_switch(std::uint64_t away_ns, std::uint64_t now_ns, unsigned cpu) noexcept {
  if (away_ns > kSwitchNs) {
    const std::uint64_t before = shared_until_ns_.exchange(now_ns + kSharedNs, std::memory_order_relaxed);
    if (now_ns + kSharedNs - before < away_ns + kQuickNs)
      round_until_ns_.store(now_ns + kSharedNs, std::memory_order_relaxed);
    vain_.store(std::max(0, vain_.load(std::memory_order_relaxed) - kUsefulYield), std::memory_order_relaxed);
  }
  Busy& busy = busy_[cpu % kBusyEntries];
  if (away_ns > turn_ns_.load(std::memory_order_relaxed)) return note_slice(busy, now_ns);
  if (busy.memory_ns.load(std::memory_order_relaxed) != 0 && !is_busy(busy, now_ns))
    busy.memory_ns.store(0, std::memory_order_relaxed);
}

void CoreSharing::note_vain_yields(std::uint64_t now_ns) noexcept {
  const int waits = vain_.load(std::memory_order_relaxed);
  if (waits < 2 * kVainWaits) vain_.store(waits + 1, std::memory_order_relaxed);
  const std::uint64_t until = vain_until_ns_.load(std::memory_order_relaxed);
  if (now_ns < until) return;
  const std::uint64_t before = vain_memory_ns_.load(std::memory_order_relaxed);
  const bool is_recent = now_ns - until < kVainMinNs + before;
  const std::uint64_t memory = is_recent ? std::clamp(2 * before, kVainMinNs, kVainMaxNs) : kVainMinNs;
  vain_memory_ns_.store(memory, std::memory_order_relaxed);
  vain_until_ns_.store(now_ns + memory, std::memory_order_relaxed);
}

int CoreSharing::idle_yields_in_vain() const noexcept {
  return vain_.load(std::memory_order_relaxed) < kVainWaits ? kIdleYields : 1;
}

bool CoreSharing::note_preemption(std::uint64_t& last_ns, std::uint64_t now_ns, unsigned cpu) noexcept {
  constexpr std::uint64_t kPreemptedNs = 500'000;  // handlers of messages take less
  const std::uint64_t away = now_ns - std::exchange(last_ns, now_ns);
  if (away <= kPreemptedNs) return false;
  note_switch(away, now_ns, cpu);
  return true;
}

bool CoreSharing::is_busy(std::uint64_t now_ns, unsigned cpu) const noexcept {
  return is_busy(busy_[cpu % kBusyEntries], now_ns);
}

void CoreSharing::forget() noexcept {
  shared_until_ns_.store(0, std::memory_order_relaxed);
  round_until_ns_.store(0, std::memory_order_relaxed);
  vain_until_ns_.store(0, std::memory_order_relaxed);
  vain_memory_ns_.store(0, std::memory_order_relaxed);
  vain_.store(0, std::memory_order_relaxed);
  for (Busy& busy : busy_) {
    busy.until_ns.store(0, std::memory_order_relaxed);
    busy.memory_ns.store(0, std::memory_order_relaxed);
  }
}

unsigned this_cpu() noexcept {
  const int cpu = ::sched_getcpu();
  return static_cast<unsigned>(cpu < 0 ? 0 : cpu);
}

}  // namespace shmemx::progress
