// alltoall and alltoalls of active sets some of whose members are not mapped.
#pragma once

#include "coll/active_set/group.hpp"
#include "rma/strided.hpp"

namespace shmemx::coll {

// `shape` describes one block.
void alltoalls_remote(ActiveGroup& group, Symmetric dest, Symmetric source, const rma::Strided& shape) noexcept;

}  // namespace shmemx::coll
