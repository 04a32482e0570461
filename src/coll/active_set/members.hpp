// Moving data within an active set some of whose members are not mapped: to all of them, flushed before the set
// synchronises. There are no flags, since the members share only the caller's pSync array.
#pragma once

#include "coll/active_set/group.hpp"
#include "coll/common/member_access.hpp"
#include "context/context.hpp"

namespace shmemx::coll {

// Returns the member `distance` places after this PE, cyclically. `distance` is at most the size.
inline int pe_ahead(const ActiveGroup& group, int distance) noexcept {
  const int pe = group.me() + distance;
  return pe < group.size() ? pe : pe - group.size();
}

inline MemberAccess members_of(const ActiveGroup& group) noexcept { return {group.route(), group.routine()}; }

inline void flush(const ActiveGroup& group) noexcept {
  onesided::flush(group.routine(), {&context::default_context()});
}

// Puts `bytes` of this PE to every member, itself included. `own_dest` is this PE's copy of their place.
inline void put_to_all(const ActiveGroup& group, const std::byte* own_dest, const std::byte* source,
                       std::size_t bytes) noexcept {
  for (int i = 1; i <= group.size(); ++i) members_of(group).put(pe_ahead(group, i), own_dest, source, bytes);
}

}  // namespace shmemx::coll
