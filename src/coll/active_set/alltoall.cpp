#include "coll/active_set/alltoall.hpp"

#include "coll/active_set/members.hpp"

namespace shmemx::coll {

void alltoalls_remote(ActiveGroup& group, Symmetric dest, Symmetric source, const rma::Strided& shape) noexcept {
  const std::byte* const place = dest.pe0 + static_cast<std::size_t>(group.me()) * shape.block_count * shape.dest_step;
  for (int i = 1; i <= group.size(); ++i) {
    const int pe = pe_ahead(group, i);
    const std::byte* const block = source.pe0 + static_cast<std::size_t>(pe) * shape.block_count * shape.source_step;
    members_of(group).put_strided(pe, place, block, shape);
  }
  group.flush_and_sync();
}

}  // namespace shmemx::coll
