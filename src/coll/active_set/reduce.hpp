// Reductions of active sets some of whose members are not mapped.
#pragma once

#include "coll/active_set/group.hpp"
#include "coll/common/combine.hpp"

namespace shmemx::coll {

// PE i gets share i of all sources, and puts the result to all dests.
void reduce_remote(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t nelems, Combine combine) noexcept;

}  // namespace shmemx::coll
