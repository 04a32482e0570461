// fcollect, for contributions of one length, and collect, for contributions of different lengths.
#pragma once

#include "coll/active_set/collect.hpp"
#include "coll/common/group.hpp"
#include "coll/common/select.hpp"
#include "coll/internode/collect.hpp"
#include "coll/internode/lengths.hpp"
#include "coll/node/collect.hpp"

namespace shmemx::coll {

template <class Group>
inline void fcollect(Group& group, Symmetric dest, Symmetric source, std::size_t bytes) noexcept {
  if (!group.is_direct()) [[unlikely]]
    return fcollect_remote(group, dest, source.at(group.me()), bytes);
  if constexpr (Group::kHasScratch) {
    Team& team = group.team();
    if (moves_by_tree(bytes * static_cast<std::size_t>(team.size()), team.size(), team.counting)) [[unlikely]]
      return fcollect_by_tree(team, group.routine(), dest, source.at(team.me()), bytes);
  }
  push_to_all(group, dest, source.at(group.me()), static_cast<std::size_t>(group.me()) * bytes, bytes);
  group.sync();
}

// Exchanges the lengths first. `checked_dest(total)` then checks and translates dest.
template <class Group, class CheckedDest>
inline void collect(Group& group, CheckedDest checked_dest, const std::byte* source, std::size_t bytes) noexcept {
  if (!group.is_direct()) [[unlikely]] {
    const Offsets offsets = exchange_lengths(group, bytes);
    collect_remote(group, checked_dest(offsets.back()), source, offsets);
    return group.retract_word();
  }
  if constexpr (Group::kHasScratch) {
    Team& team = group.team();
    if (takes_tree(team.size(), team.counting)) [[unlikely]] {
      const SpanLengths& lengths = exchange_lengths_by_tree(group, bytes);
      const Symmetric dest = checked_dest(lengths.total);
      if (moves_by_tree(lengths.total, team.size(), team.counting))
        return collect_by_tree(team, group.routine(), dest, source, lengths);
      push_to_all(group, dest, source, lengths.offset, bytes);
      return group.sync();
    }
  }
  group.publish_word(bytes);
  group.sync();
  const CollectExtent extent = collect_extent(group);
  push_to_all(group, checked_dest(extent.total), source, extent.offset, bytes);
  group.sync();
  group.retract_word();
}

}  // namespace shmemx::coll
