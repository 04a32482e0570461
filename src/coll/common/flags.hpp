// Flags between members of a team: a store where the other member's memory is mapped, else a message to an entry that
// the receiver keeps for that member. A member sees a flag only after everything that its writer sent to it before.
//
// A flag carries the tag of the writer's calls, which no other epoch has (matching.hpp): a member that finds the tag
// it expects need not look at the epoch, and one that does not compares.
//
// Edge:  arrive  flag.store -> flag.load, of the tag and of the epoch    all stores of the writer before it
#pragma once

#include <cstdint>

#include "coll/common/flag_messages.hpp"
#include "coll/common/matching.hpp"
#include "context/route.hpp"
#include "onesided/operations.hpp"

namespace shmemx::coll {

inline void store_flag(MemberFlag& flag, std::uint64_t epoch, std::uint64_t tag) noexcept {
  flag.tag.store(tag, std::memory_order_release);      // arrive
  flag.epoch.store(epoch, std::memory_order_release);  // arrive
}

// Sets this PE's flag on `pe` of the team, another one, to `epoch`.
inline void set_flag(const Team& team, const char* routine, int pe, std::uint64_t epoch) noexcept {
  if (!context::is_mapped(team.route, pe)) [[unlikely]]
    return send_flag(team, routine, pe, epoch);
  store_flag(team.flag(pe, team.me()), epoch, tag_of(team, epoch));
  context::wake_heap(context::peer_heap(team.route, pe));
}

// Ends the job if the flag has been set in another call that is the same by its epoch.
inline void compare_tag(const Team& team, const char* routine, int pe, const MemberFlag& flag,
                        std::uint64_t epoch) noexcept {
  const bool is_of_epoch = flag.epoch.load(std::memory_order_acquire) == epoch;  // arrive
  if (is_of_epoch && flag.tag.load(std::memory_order_relaxed) != tag_of(team, epoch)) [[unlikely]]
    look_at_tag(team, routine, pe, flag, epoch);
}

// Waits until `pe` has set its flag on this PE to `epoch` or a later one.
void await_flag(const Team& team, const char* routine, int pe, std::uint64_t epoch) noexcept;

}  // namespace shmemx::coll
