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

// Returns the leader of this PE's node.
int leader_of(const TeamGroup& group) noexcept;

// Contributions on their way through the leaders of a group over several nodes: those of all members that agree with
// the lowest one, merged, and one that does not.
struct MergedPes {
  int lowest;
  int other;  // disagrees with the lowest one; -1: all agree
};
template <class T>
struct Merged {
  MergedPes pes;
  T lowest;
  T other;

  // Adds the contributions of further members.
  void add(const Merged& from) noexcept {
    if (from.pes.lowest < pes.lowest) {
      Merged lower = from;
      lower.add(*this);
      *this = lower;
      return;
    }
    if (!T::merge(lowest, from.lowest)) {
      take_other(from.pes.lowest, from.lowest);
    } else if (from.pes.other >= 0) {
      take_other(from.pes.other, from.other);
    }
  }

 private:
  void take_other(int pe, const T& data) noexcept {
    if (pes.other >= 0 && pes.other < pe) return;
    pes.other = pe;
    other = data;
  }
};
inline constexpr std::size_t kMaxMergedBytes = 1024;
// `own`: this member's Merged, which becomes that of all. `records` merges two of them. Returns false if the leader is
// in another collective.
bool merge_by_leaders(TeamGroup& group, void* own, const Combine& records) noexcept;

// A member that does not agree with this one.
template <class T>
struct Disagreement {
  int pe = -1;
  T data{};  // its contribution; zeros if it has made none
};

// Exchanges contributions that have to agree in a part, and whose rest is merged: bool T::merge(T& into, const T& from)
// returns whether they agree, and is associative and commutative. Returns true if all agree, with the merged rest in
// `data` on all members. In a direct group that means that all are equal; else the caller looks at published().
// Over several nodes the leaders find out, and a member that is no leader talks to no other node. There, too, false
// leaves `data` as it was, but nothing is published: `other` tells who disagrees.
template <class T>
bool exchange_merged(TeamGroup& group, T& data, Disagreement<T>& other) noexcept {
  static_assert(sizeof(Merged<T>) <= kMaxMergedBytes && std::is_trivially_copyable_v<T>);
  if (group.is_direct()) return exchange_alike(group, &data, sizeof data);
  Merged<T> merged{{group.me(), -1}, data, {}};
  const auto merge = [](std::byte* result, const std::byte*, const std::byte* right, std::size_t) noexcept {
    Merged<T> from;
    std::memcpy(&from, right, sizeof from);
    reinterpret_cast<Merged<T>*>(result)->add(from);
  };
  if (!merge_by_leaders(group, &merged, {sizeof merged, merge})) {
    other = {leader_of(group), {}};
    return false;
  }
  if (merged.pes.other < 0) {
    data = merged.lowest;
    return true;
  }
  T own = data;
  if (T::merge(own, merged.lowest)) {
    other = {merged.pes.other, merged.other};
  } else {
    other = {merged.pes.lowest, merged.lowest};
  }
  return false;
}

}  // namespace shmemx::coll
