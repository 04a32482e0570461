// Scans of a team whose members all map each other's memory: running sums in the order of the PE numbers, in the two
// ways of reductions (node/reduce.hpp), and from PE to PE.
#pragma once

#include <algorithm>

#include "base/bulk_copy.hpp"
#include "coll/common/combine.hpp"
#include "coll/common/group.hpp"
#include "coll/common/select.hpp"

namespace shmemx::coll {

template <class T>
inline void scan_published(TeamGroup& group, Elements<T> dest, Elements<T> source, std::size_t nelems,
                           bool exclusive) noexcept {
  if (nelems != 0) group.publish(source.at(group.me()), nelems * sizeof(T));
  group.sync();
  if (nelems == 0) return;
  T* const out = dest.at(group.me());
  std::fill_n(out, nelems, T{});
  const int last = group.me() + (exclusive ? 0 : 1);
  for (int pe = 0; pe < last; ++pe) accumulate<T, Sum>(out, reinterpret_cast<const T*>(group.published(pe)), nelems);
}

// Computes the running sums of one share for all PEs. Exclusive: each PE gets the sum of the lower ones, PE 0 zeros.
template <class T>
inline void scan_share(TeamGroup& group, Elements<T> dest, Elements<T> source, Share share, bool exclusive) noexcept {
  constexpr std::size_t kBlock = kCacheBlockBytes / 2 / sizeof(T);  // two of them on stacks of 16 KiB
  alignas(kCacheLine) T sum[kBlock];
  alignas(kCacheLine) T own[kBlock];
  for (std::size_t at = share.begin; at < share.end; at += kBlock) {
    const std::size_t count = std::min(kBlock, share.end - at);
    std::fill_n(sum, count, T{});
    for (int pe = 0; pe < group.size(); ++pe) {
      copy_block(own, source.at(pe) + at, count * sizeof(T));  // dest may be the same memory
      if (exclusive) copy_block(dest.at(pe) + at, sum, count * sizeof(T));
      accumulate<T, Sum>(sum, own, count);
      if (!exclusive) copy_block(dest.at(pe) + at, sum, count * sizeof(T));
    }
  }
}

// The sum so far goes from each PE to the next one, piece by piece through the scratch areas. A PE touches memory of
// the next one only.
void scan_chain(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems, const Scan& scan) noexcept;

}  // namespace shmemx::coll
