// fcollect and collect of active sets some of whose members are not mapped.
#pragma once

#include "coll/active_set/group.hpp"
#include "coll/common/offsets.hpp"

namespace shmemx::coll {

void fcollect_remote(ActiveGroup& group, Symmetric dest, const std::byte* source, std::size_t bytes) noexcept;
// The caller retracts the word afterwards.
Offsets exchange_lengths(ActiveGroup& group, std::uint64_t bytes) noexcept;
void collect_remote(ActiveGroup& group, Symmetric dest, const std::byte* source, const Offsets& offsets) noexcept;

}  // namespace shmemx::coll
