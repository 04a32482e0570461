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

inline void reduce_published(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems,
                             const Combine& combine) noexcept {
  const std::size_t bytes = nelems * combine.element_bytes;
  if (nelems != 0) group.publish(source.at(group.me()), bytes);
  group.sync();
  if (nelems == 0) return;
  std::byte* const out = dest.at(group.me());
  const std::byte* left = group.published(0);
  if (group.size() == 1) copy_block(out, left, bytes);
  for (int pe = 1; pe < group.size(); ++pe, left = out) combine.apply(out, left, group.published(pe), nelems);
}

// Computes a share of the elements of PEs 0 .. n_pes - 1.
void reduce_share(int n_pes, Symmetric dest, Symmetric source, Share share, const Combine& combine) noexcept;

// The last to arrive at a group combines its members' parts into the dest of the first member.
void reduce_tree(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems,
                 const Combine& combine) noexcept;

}  // namespace shmemx::coll
