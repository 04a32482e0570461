#include "coll/node/reduce.hpp"

#include "coll/node/tree.hpp"

namespace shmemx::coll {

void reduce_share(int n_pes, Symmetric dest, Symmetric source, Share share, const Combine& combine) noexcept {
  alignas(kCacheLine) std::byte block[kCacheBlockBytes];
  const std::size_t most = sizeof block / combine.element_bytes;
  for (std::size_t at = share.begin; at < share.end; at += most) {
    const std::size_t count = std::min(most, share.end - at);
    const std::size_t offset = at * combine.element_bytes;
    const std::size_t bytes = count * combine.element_bytes;
    const std::byte* left = source.at(0) + offset;
    for (int pe = 1; pe < n_pes; ++pe, left = block) combine.apply(block, left, source.at(pe) + offset, count);
    if (n_pes == 1) copy_block(block, left, bytes);
    for (int pe = 0; pe < n_pes; ++pe) copy_block(dest.at(pe) + offset, block, bytes);
  }
}

void reduce_tree(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems,
                 const Combine& combine) noexcept {
  Team& team = group.team();
  const std::size_t block = kCacheBlockBytes / combine.element_bytes;
  ++team.epoch;
  const bool last = climb_tree(team, group.routine(), [&](const TreeGroup& at) {
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
