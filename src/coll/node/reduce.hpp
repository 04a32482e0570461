// Reductions of a group whose members all map each other's memory. Elements are combined in the order of the PE
// numbers, so results are the same on all PEs and from run to run.
//
// Published: each PE publishes its source, and after one barrier each computes all of it. Shares: after a barrier PE i
// computes share i of the elements for all, reading all sources and writing all dests; a second barrier follows. Only
// PE i touches share i of any buffer, so source and dest may be the same. Tree: the shape depends on numbers in the
// team only, and members of a group are combined in their order.
#pragma once

#include <algorithm>

#include "base/bulk_copy.hpp"
#include "coll/common/combine.hpp"
#include "coll/common/group.hpp"
#include "coll/common/select.hpp"
#include "rma/copy.hpp"

namespace shmemx::coll {

template <class T, class Op, class Group>
inline void reduce_published(Group& group, Elements<T> dest, Elements<T> source, std::size_t nelems) noexcept {
  if (nelems != 0) group.publish(source.at(group.me()), nelems * sizeof(T));
  group.sync();
  T* const out = dest.at(group.me());
  for (int pe = 0; nelems != 0 && pe < group.size(); ++pe) {
    const T* const from = reinterpret_cast<const T*>(group.published(pe));
    if (pe == 0) {
      copy_block(out, from, nelems * sizeof(T));
    } else {
      accumulate<T, Op>(out, from, nelems);
    }
  }
}

template <class T, class Op, class Group>
inline void reduce_share(Group& group, Elements<T> dest, Elements<T> source, Share share) noexcept {
  constexpr std::size_t kBlock = kCacheBlockBytes / sizeof(T);
  alignas(kCacheLine) T block[kBlock];
  for (std::size_t at = share.begin; at < share.end; at += kBlock) {
    const std::size_t count = std::min(kBlock, share.end - at);
    copy_block(block, source.at(0) + at, count * sizeof(T));
    for (int pe = 1; pe < group.size(); ++pe) accumulate<T, Op>(block, source.at(pe) + at, count);
    for (int pe = 0; pe < group.size(); ++pe) copy_block(dest.at(pe) + at, block, count * sizeof(T));
  }
}

// The last to arrive at a group combines its members' parts into the dest of the first member.
void reduce_tree(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems,
                 const Combine& combine) noexcept;

}  // namespace shmemx::coll
