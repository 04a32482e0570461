#include "coll/node/reduce.hpp"

#include "coll/node/tree.hpp"

namespace shmemx::coll {

void reduce_tree(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems,
                 const Combine& combine) noexcept {
  Team& team = group.team();
  const std::size_t block = kCacheBlockBytes / combine.element_bytes;
  ++team.epoch;
  const bool last = climb_tree(team, [&](const TreeGroup& at) {
    const Symmetric from = at.level == 0 ? source : dest;
    for (std::size_t i = 0; i < nelems; i += block) {
      const std::size_t count = std::min(block, nelems - i);
      const std::size_t offset = i * combine.element_bytes;
      std::byte* const into = dest.at(at.first) + offset;
      const std::byte* const first = from.at(at.first) + offset;
      if (into != first) rma::copy(into, first, count * combine.element_bytes);
      for (int k = 1; k < at.count; ++k) combine.accumulate(into, from.at(at.member(k)) + offset, count);
    }
  });
  descend_tree(team, group.routine(), last, [&](const TreeGroup& at, int k) {
    rma::copy(dest.at(at.member(k)), dest.at(at.first), nelems * combine.element_bytes);
  });
}

}  // namespace shmemx::coll
