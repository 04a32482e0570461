// What PEs of different nodes have to know of each other's records before the memory is laid out: each different record
// once. In most jobs all records are alike, so that what is combined does not grow with the job.
#pragma once

#include "base/result.hpp"
#include "bootstrap/bootstrap.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// Combines the records of this node with those of all others, and fills in the records of the PEs of other nodes: each
// has what some PE with equal settings has sent, and a PE that differs from all lower ones has its own. Called by the
// lowest PE of each node.
Status lead_records(const windows::Arena& arena, bootstrap::Bootstrap& launcher);
// Called by the others at the same time.
Status follow_records(bootstrap::Bootstrap& launcher);

}  // namespace shmemx::runtime
