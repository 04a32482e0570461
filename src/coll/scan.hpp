// Scans: sums over the lower PEs, with this PE's own elements or without (exclusive).
#pragma once

#include "coll/internode/scan.hpp"
#include "coll/node/scan.hpp"

namespace shmemx::coll {

template <class T>
inline void scan(TeamGroup& group, Elements<T> dest, Elements<T> source, std::size_t nelems, bool exclusive) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return scan_remote(group, dest.base, source.base, nelems, {combine_of<T, Sum>(), exclusive});
  if (scan_chains(group.size(), group.team().counting)) [[unlikely]]
    return scan_chain(group, dest.base, source.base, nelems, {combine_of<T, Sum>(), exclusive});
  if (reduction_publishes(nelems * sizeof(T), group.size()))
    return scan_published<T>(group, dest, source, nelems, exclusive);
  group.sync();
  scan_share<T>(group, dest, source, share_of(nelems, group.me(), group.size()), exclusive);
  group.sync();
}

}  // namespace shmemx::coll
