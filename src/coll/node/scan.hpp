// Scans of a team whose members all map each other's memory: running sums in the order of the PE numbers, in the two
// ways of reductions (node/reduce.hpp), and from PE to PE.
#pragma once

#include <cstring>

#include "base/bulk_copy.hpp"
#include "coll/common/combine.hpp"
#include "coll/common/group.hpp"
#include "coll/common/select.hpp"

namespace shmemx::coll {

inline void scan_published(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems,
                           const Scan& scan) noexcept {
  const std::size_t bytes = nelems * scan.sum.element_bytes;
  if (nelems != 0) group.publish(source.at(group.me()), bytes);
  group.sync();
  if (nelems == 0) return;
  std::byte* const out = dest.at(group.me());
  std::memset(out, 0, bytes);
  const int last = group.me() + (scan.exclusive ? 0 : 1);
  for (int pe = 0; pe < last; ++pe) scan.sum.accumulate(out, group.published(pe), nelems);
}

// Computes the running sums of one share for PEs 0 .. n_pes - 1. Exclusive: each PE gets the sum of the lower ones,
// PE 0 zeros.
void scan_share(int n_pes, Symmetric dest, Symmetric source, Share share, const Scan& scan) noexcept;

// The sum so far goes from each PE to the next one, piece by piece through the scratch areas. A PE touches memory of
// the next one only.
void scan_chain(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems, const Scan& scan) noexcept;

}  // namespace shmemx::coll
