// Reductions: the result of an operator over all PEs' elements, on all PEs.
#pragma once

#include "coll/active_set/reduce.hpp"
#include "coll/common/group.hpp"
#include "coll/internode/reduce.hpp"
#include "coll/node/reduce.hpp"

namespace shmemx::coll {

template <class Group>
inline void reduce(Group& group, Symmetric dest, Symmetric source, std::size_t nelems,
                   const Combine& combine) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return reduce_remote(group, dest, source, nelems, combine);
  if constexpr (Group::kHasScratch) {
    const std::size_t bytes = nelems * combine.element_bytes;
    if (moves_by_tree(bytes, group.size(), group.team().counting)) [[unlikely]]
      return reduce_tree(group, dest, source, nelems, combine);
    if (reduction_publishes(bytes, group.size())) return reduce_published(group, dest, source, nelems, combine);
  }
  group.sync();
  reduce_share(group.size(), dest, source, share_of(nelems, group.me(), group.size()), combine);
  group.sync();
}

}  // namespace shmemx::coll
