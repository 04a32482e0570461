// fcollect and collect of a group whose members all map each other's memory: each PE stores its contribution into all
// dests, beginning with the next PE, so that not all write to PE 0 first.
#pragma once

#include "coll/common/symmetric.hpp"
#include "rma/copy.hpp"

namespace shmemx::coll {

// Stores `bytes` of this PE into every member's dest at `offset`, its own included.
template <class Group>
inline void push_to_all(Group& group, Symmetric dest, const std::byte* source, std::size_t offset,
                        std::size_t bytes) noexcept {
  const int n = group.size();
  if (bytes == 0) return;
  for (int i = 1; i <= n; ++i) {
    const int pe = group.me() + i < n ? group.me() + i : group.me() + i - n;
    rma::copy(dest.at(pe) + offset, source, bytes);
  }
}

// Where this PE's contribution to a collect begins, and the length of all together. The lengths have been published.
struct CollectExtent {
  std::size_t offset = 0;
  std::size_t total = 0;
};
template <class Group>
inline CollectExtent collect_extent(const Group& group) noexcept {
  CollectExtent extent;
  for (int pe = 0; pe < group.size(); ++pe) {
    if (pe == group.me()) extent.offset = extent.total;
    extent.total += group.published_word(pe);
  }
  return extent;
}

}  // namespace shmemx::coll
