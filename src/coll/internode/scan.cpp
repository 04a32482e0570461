#include "coll/internode/scan.hpp"

#include "coll/common/nodes.hpp"
#include "coll/common/select.hpp"
#include "coll/internode/member_scan.hpp"

namespace shmemx::coll {

void scan_remote(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems, Scan scan) noexcept {
  if (nelems == 0) return group.sync();
  const TeamNodes& nodes = nodes_of(group.team());
  const MemberScan members(group.team(), dest.pe0, source.pe0, scan);
  if (!nodes.in_order) {
    scan_gathered(group, members, nelems);
  } else if (scan_by_leaders(nelems * scan.sum.element_bytes)) {
    scan_through_leaders(group, members, nelems);
  } else {
    scan_by_shares(group, members, nelems);
  }
}

}  // namespace shmemx::coll
