// How nodes exchange node blocks in an alltoall. Few nodes: each sends to every other one. Many: they stand on a mesh.
// Blocks for one column travel combined along the row first, then those for one node combined along the column, so a
// node sends about 2 sqrt(n) messages instead of n.
#pragma once

#include "coll/internode/first_round.hpp"
#include "coll/internode/node_blocks.hpp"

namespace shmemx::coll {

// These return true on the leader, when it has stored all blocks of other nodes; false on others, when the leader has
// released them. On the mesh `second` is another round, of later epochs.
bool exchange_directly(const NodeBlocks& blocks, FirstRound& round);
bool exchange_on_mesh(const NodeBlocks& blocks, FirstRound& round, FirstRound& second);

}  // namespace shmemx::coll
