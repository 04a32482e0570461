#include "runtime/processors.hpp"

#include <algorithm>
#include <bit>

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

// Some set of CPUs is too small for the PEs that may run nowhere else.
bool some_cpus_are_crowded(const windows::Arena& arena, int n_pes) {
  for (int pe = 0; pe < n_pes; ++pe) {
    const PeRecord& outer = arena.record(pe);
    const bool seen_before =
        pe > 0 && std::equal(outer.affinity, outer.affinity + kAffinityWords, arena.record(pe - 1).affinity);
    if (seen_before) continue;
    int confined = 0;
    for (int other = 0; other < n_pes; ++other) confined += is_within(arena.record(other), outer) ? 1 : 0;
    if (confined > count_cpus(outer.affinity)) return true;
  }
  return false;
}

}  // namespace

bool pes_outnumber_cores(const windows::Arena& arena) noexcept {
  const int n_pes = static_cast<int>(arena.header().n_pes);
  std::uint64_t quota_milli = kUnlimited;
  for (int pe = 0; pe < n_pes; ++pe) quota_milli = std::min(quota_milli, arena.record(pe).cpu_quota_milli);
  const bool over_quota = quota_milli != kUnlimited && quota_milli < static_cast<std::uint64_t>(n_pes) * 1000;
  return n_pes > 1 && (over_quota || some_cpus_are_crowded(arena, n_pes));
}

}  // namespace shmemx::runtime
