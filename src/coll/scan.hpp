// Scans: sums over the lower PEs, with this PE's own elements or without (exclusive).
#pragma once

#include "coll/internode/scan.hpp"
#include "coll/node/scan.hpp"

namespace shmemx::coll {

inline void scan(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems, const Scan& scan) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return scan_remote(group, dest, source, nelems, scan);
  if (scan_chains(group.size(), group.team().counting)) [[unlikely]]
    return scan_chain(group, dest, source, nelems, scan);
  if (reduction_publishes(nelems * scan.sum.element_bytes, group.size()))
    return scan_published(group, dest, source, nelems, scan);
  group.sync();
  scan_share(group.size(), dest, source, share_of(nelems, group.me(), group.size()), scan);
  group.sync();
}

}  // namespace shmemx::coll
