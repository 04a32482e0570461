// How leaders exchange node blocks in an alltoall. Few nodes: each leader sends to every other one. Many: the leaders
// stand on a mesh. Blocks for one column travel combined along the row first, then those for one node combined along
// the column, so a leader sends about 2 sqrt(n) messages instead of n.
#pragma once

#include <cstdint>

#include "coll/internode/node_blocks.hpp"

namespace shmemx::coll {

// Called on leaders only. `epoch` and, on the mesh, the one after it are this exchange's.
void exchange_directly(TeamGroup& group, const NodeBlocks& blocks, std::uint64_t epoch);
void exchange_on_mesh(TeamGroup& group, const NodeBlocks& blocks, std::uint64_t epoch);

}  // namespace shmemx::coll
