// An exchange of small contributions of which a member usually needs to know only that all are equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "coll/common/combine.hpp"
#include "coll/common/group.hpp"

namespace shmemx::coll {

// Publishes a contribution and synchronises. Returns true if the contributions of all members are the same bytes. If
// not, or if some member is in another collective, the caller looks at published(). At most kMaxAlikeBytes. For direct
// groups.
inline constexpr std::size_t kMaxAlikeBytes = windows::kScratchBytes / 2;
bool exchange_alike(TeamGroup& group, const void* data, std::size_t bytes) noexcept;

// A contribution on its way through the leaders of a group over several nodes, which begins with whether those that it
// stands for are alike.
inline constexpr std::size_t kMaxMergedBytes = 512;
struct Merged {
  std::uint64_t alike;
  std::byte data[kMaxMergedBytes];
};
// Merges `right` into `result`, which is `left`; of one record, as a member of Combine.
using MergeRecords = decltype(Combine::apply);
// `own`: {1, this member's contribution of `bytes` bytes}; becomes the result.
void merge_by_leaders(TeamGroup& group, Merged& own, std::size_t bytes, MergeRecords merge) noexcept;

// Exchanges contributions that have to agree in a part, and whose rest is merged: bool T::merge(T& into, const T& from)
// returns whether they agree, and is associative and commutative. Returns true if all agree, with the merged rest in
// `data` on all members. In a direct group that means that all are equal; else the caller looks at published().
// Over several nodes the leaders find out, and a member that is no leader talks to no other node. There, too, false
// leaves `data` as it was, but nothing is published.
template <class T>
bool exchange_merged(TeamGroup& group, T& data) noexcept {
  static_assert(sizeof(T) <= kMaxMergedBytes && std::is_trivially_copyable_v<T>);
  if (group.is_direct()) return exchange_alike(group, &data, sizeof data);
  Merged merged{1, {}};
  std::memcpy(merged.data, &data, sizeof data);
  merge_by_leaders(group, merged, sizeof data,
                   [](std::byte* into, const std::byte*, const std::byte* from, std::size_t) noexcept {
                     Merged& mine = *reinterpret_cast<Merged*>(into);
                     std::uint64_t theirs_alike;
                     std::memcpy(&theirs_alike, from, sizeof theirs_alike);
                     T own;
                     T theirs;
                     std::memcpy(&own, mine.data, sizeof own);
                     std::memcpy(&theirs, from + offsetof(Merged, data), sizeof theirs);
                     mine.alike = theirs_alike != 0 && mine.alike != 0 && T::merge(own, theirs) ? 1 : 0;
                     std::memcpy(mine.data, &own, sizeof own);
                   });
  if (merged.alike == 0) return false;
  std::memcpy(&data, merged.data, sizeof data);
  return true;
}

}  // namespace shmemx::coll
