// alltoall and alltoalls of a team on several nodes. Blocks for node peers are stored into their dest. Short blocks for
// other nodes are combined: a leader sends all blocks of its node for another node in one message
// (alltoall_leaders.hpp). Long blocks go from PE to PE.
#pragma once

#include "coll/common/group.hpp"
#include "rma/strided.hpp"

namespace shmemx::coll {

// `shape` describes one block.
void alltoalls_remote(TeamGroup& group, Symmetric dest, Symmetric source, const rma::Strided& shape) noexcept;

}  // namespace shmemx::coll
