// Scans of a team on several nodes. If the team's numbers run node by node, a node needs only the sum of the lower
// nodes: by the leaders when short, by shares when long. Else each leader gets all contributions.
#pragma once

#include "coll/common/combine.hpp"
#include "coll/common/group.hpp"

namespace shmemx::coll {

void scan_remote(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems, Scan scan) noexcept;

}  // namespace shmemx::coll
