#include "runtime/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/doorbell.hpp"
#include "base/machine.hpp"

namespace shmemx::runtime {
namespace {

using bootstrap::kAffinityWords;
using bootstrap::PeRecord;

int count_cpus(const std::uint64_t* words) {
  int count = 0;
  for (std::size_t i = 0; i < kAffinityWords; ++i) count += std::popcount(words[i]);
  return count;
}

bool is_within(const PeRecord& inner, const PeRecord& outer) {
  for (std::size_t i = 0; i < kAffinityWords; ++i) {
    if ((inner.affinity[i] & ~outer.affinity[i]) != 0) return false;
  }
  return true;
}

// Returns true if some set of CPUs is too small for the PEs that may run nowhere else.
bool some_cpus_are_crowded(const std::vector<const PeRecord*>& records) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    const PeRecord& outer = *records[i];
    const bool seen_before =
        i > 0 && std::equal(outer.affinity, outer.affinity + kAffinityWords, records[i - 1]->affinity);
    if (seen_before) continue;
    int confined = 0;
    for (const PeRecord* const other : records) confined += is_within(*other, outer) ? 1 : 0;
    if (confined > count_cpus(outer.affinity)) return true;
  }
  return false;
}

constexpr std::uint64_t kLookIntervalNs = 1'000'000;

// The doorbells of the node's other PEs, separated by lower and higher PE number. Filled at init, before any wait
// reads them.
struct NodeDoorbells {
  std::vector<const Doorbell*> lower;
  std::vector<const Doorbell*> higher;
};
NodeDoorbells& node_doorbells() {
  static NodeDoorbells* const instance = new NodeDoorbells;
  return *instance;
}
constinit std::atomic<std::uint64_t> next_look_ns{0};

// Returns `allowed` without `cpu` and, if any CPU remains then, without the CPUs on which other PEs wait.
cpu_set_t without_pes(const cpu_set_t& allowed, unsigned cpu) {
  cpu_set_t others = allowed;
  CPU_CLR(cpu, &others);
  cpu_set_t free = others;
  const NodeDoorbells& doorbells = node_doorbells();
  for (const auto* const list : {&doorbells.lower, &doorbells.higher}) {
    for (const Doorbell* const doorbell : *list) {
      const std::uint32_t waits_on = doorbell->cpu.load(std::memory_order_relaxed);
      if (waits_on != 0) CPU_CLR(waits_on - 1, &free);
    }
  }
  return CPU_COUNT(&free) != 0 ? free : others;
}

}  // namespace

void watch_doorbells(const Doorbells& doorbells, std::span<const int> node_pes, int me) {
  NodeDoorbells found;
  for (const int pe : node_pes) {
    if (pe == me) continue;
    (pe < me ? found.lower : found.higher).push_back(&doorbells.at(pe));
  }
  node_doorbells() = std::move(found);
}

void part_from_pes() noexcept {
  const std::uint64_t now = now_ns();
  if (now < next_look_ns.load(std::memory_order_relaxed)) return;  // relaxed: a hint
  next_look_ns.store(now + kLookIntervalNs, std::memory_order_relaxed);
  const int cpu = ::sched_getcpu();
  const auto waits_here = [cpu](const Doorbell* doorbell) {
    return doorbell->cpu.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(cpu) + 1;
  };
  const auto& lower = node_doorbells().lower;
  if (cpu < 0 || std::none_of(lower.begin(), lower.end(), waits_here)) return;
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  const cpu_set_t elsewhere = without_pes(allowed, static_cast<unsigned>(cpu));
  if (::sched_setaffinity(0, sizeof elsewhere, &elsewhere) == 0) ::sched_setaffinity(0, sizeof allowed, &allowed);
}

bool pes_outnumber_cores(const windows::Arena& arena) noexcept {
  std::vector<const PeRecord*> records;
  std::uint64_t quota_milli = kUnlimited;
  for (const auto& [pe, record] : arena.records()) {
    if (!arena.has(pe)) continue;
    records.push_back(record);
    quota_milli = std::min(quota_milli, record->cpu_quota_milli);
  }
  const bool over_quota = quota_milli != kUnlimited && quota_milli < records.size() * 1000;
  return records.size() > 1 && (over_quota || some_cpus_are_crowded(records));
}

}  // namespace shmemx::runtime
