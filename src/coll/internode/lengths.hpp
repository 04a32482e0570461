// The exchange of lengths that a collect on several nodes begins with.
#pragma once

#include "coll/common/group.hpp"
#include "coll/common/offsets.hpp"

namespace shmemx::coll {

Offsets exchange_lengths(TeamGroup& group, std::uint64_t bytes) noexcept;

}  // namespace shmemx::coll
