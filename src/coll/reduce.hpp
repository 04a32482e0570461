// Reductions: the result of an operator over all PEs' elements, on all PEs.
#pragma once

#include "coll/active_set/reduce.hpp"
#include "coll/common/group.hpp"
#include "coll/internode/reduce.hpp"
#include "coll/node/reduce.hpp"

namespace shmemx::coll {

template <class T, class Op, class Group>
inline void reduce(Group& group, Elements<T> dest, Elements<T> source, std::size_t nelems) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return reduce_remote(group, dest.base, source.base, nelems, combine_of<T, Op>());
  if constexpr (Group::kHasScratch) {
    if (moves_by_tree(nelems * sizeof(T), group.size(), group.team().counting)) [[unlikely]]
      return reduce_tree(group, dest.base, source.base, nelems, combine_of<T, Op>());
    if (reduction_publishes(nelems * sizeof(T), group.size()))
      return reduce_published<T, Op>(group, dest, source, nelems);
  }
  group.sync();
  reduce_share<T, Op>(group, dest, source, share_of(nelems, group.me(), group.size()));
  group.sync();
}

}  // namespace shmemx::coll
