#include "coll/internode/node_combine.hpp"

#include "base/bulk_copy.hpp"
#include "coll/common/select.hpp"
#include "rma/copy.hpp"

namespace shmemx::coll {

void combine_node(Team& team, const Part& source, const Combine& combine, std::byte* into) noexcept {
  const std::size_t block = kCacheBlockBytes / combine.element_bytes;
  const auto here = nodes_of(team).here();
  for (std::size_t at = 0; at < source.nelems; at += block) {
    const std::size_t count = std::min(block, source.nelems - at);
    const std::size_t offset = at * combine.element_bytes;
    copy_block(into + offset, mapped_copy(team.route, source.own_copy, here[0]) + offset,
               count * combine.element_bytes);
    for (const int pe : here.subspan(1))
      combine.accumulate(into + offset, mapped_copy(team.route, source.own_copy, pe) + offset, count);
  }
}

void store_on_node(Team& team, std::byte* own_dest, const std::byte* result, std::size_t bytes) noexcept {
  for (const int pe : nodes_of(team).here()) rma::copy(mapped_copy(team.route, own_dest, pe), result, bytes);
}

}  // namespace shmemx::coll
