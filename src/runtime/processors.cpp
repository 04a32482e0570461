#include "runtime/processors.hpp"

#include <algorithm>
#include <bit>
#include <vector>

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

}  // namespace

bool pes_outnumber_cores(const windows::Arena& arena, int me) noexcept {
  std::vector<const PeRecord*> records;
  std::uint64_t quota_milli = kUnlimited;
  for (int pe = 0; pe < static_cast<int>(arena.header().n_pes); ++pe) {
    if (arena.record(pe).node != arena.record(me).node) continue;
    records.push_back(&arena.record(pe));
    quota_milli = std::min(quota_milli, arena.record(pe).cpu_quota_milli);
  }
  const bool over_quota = quota_milli != kUnlimited && quota_milli < records.size() * 1000;
  return records.size() > 1 && (over_quota || some_cpus_are_crowded(records));
}

}  // namespace shmemx::runtime
