#include "coll/internode/reduce.hpp"

#include "coll/common/select.hpp"

namespace shmemx::coll {

void reduce_remote(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems, Combine combine) noexcept {
  if (nelems == 0) return group.sync();
  const Part part{source.pe0, nelems};
  if (reduce_by_leaders(nodes_of(group.team()), nelems * combine.element_bytes)) {
    reduce_through_leaders(group, dest.pe0, part, combine);
  } else {
    reduce_by_shares(group, dest.pe0, part, combine);
  }
}

}  // namespace shmemx::coll
