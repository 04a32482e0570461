// Where each member's contribution to a collect begins.
#pragma once

#include <cstdint>
#include <vector>

namespace shmemx::coll {

// By PE; after the last one the total.
using Offsets = std::vector<std::uint64_t>;

}  // namespace shmemx::coll
