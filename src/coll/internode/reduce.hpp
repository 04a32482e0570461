// Reductions of a team on several nodes: by the leaders when short, by shares of elements when long. They know elements
// only by their length.
#pragma once

#include "coll/common/group.hpp"
#include "coll/internode/node_combine.hpp"

namespace shmemx::coll {

void reduce_remote(TeamGroup& group, Symmetric dest, Symmetric source, std::size_t nelems, Combine combine) noexcept;

// The two algorithms: reduce_leaders.cpp and reduce_shares.cpp. `dest` is this PE's copy.
void reduce_through_leaders(TeamGroup& group, std::byte* dest, const Part& source, const Combine& combine) noexcept;
void reduce_by_shares(TeamGroup& group, std::byte* dest, const Part& source, const Combine& combine) noexcept;

// Turns what each leader has in `own` into the combination of all of them, on all leaders. By leaders only.
void combine_among_leaders(TeamGroup& group, std::byte* own, std::size_t nelems, const Combine& combine,
                           std::uint64_t epoch) noexcept;

}  // namespace shmemx::coll
