// Beginning collectives that run in the background, and the list of those under way, which each poll of the endpoint
// advances. A request of pt2pt completes with each, by which programs and higher layers wait for it: pt2pt::wait(),
// test(), look_at().
//
// All members of a team begin its collectives in the same order; several may be open. Calls for one team are made by
// one thread at a time, as for other collectives. No memory needs to be symmetric.
#pragma once

#include <optional>

#include "coll/background/call_tag.hpp"
#include "coll/background/schedule.hpp"
#include "coll/common/team.hpp"
#include "pt2pt/messages.hpp"

namespace shmemx::coll::background {

using pt2pt::RequestId;

// Registers with the endpoint. Runtime calls it at init, after pt2pt::open().
void open() noexcept;
// Forgets what is under way. Runtime calls it before pt2pt::close().
void close() noexcept;

// To be called when a team is entered in the table: its collectives are numbered from 0 on.
void restart_numbers(std::size_t team_index) noexcept;
// Returns how many have been begun on the team. Any thread may call it.
std::uint64_t begun(std::size_t team_index) noexcept;

// Looks for messages of members that have made other calls than this PE where the two expect nothing of each other.
// Called by a thread that has waited for long. A difference ends the job.
void compare_with_others() noexcept;

// A collective under way.
struct UnderWay {
  const Team* team;
  std::uint64_t number;  // of the team's, from 1 on
  CallTag tag;
};
std::optional<UnderWay> find_under_way(RequestId id) noexcept;

// Source and dest of a collective, of `bytes` each unless said otherwise.
struct Buffers {
  std::byte* dest;
  const std::byte* source;
  std::size_t bytes;
};

// Who begins a collective. `site`: where the call returns to; null: not known.
struct Caller {
  const char* routine;
  const void* site = nullptr;
};

RequestId begin_barrier(Team& team, const Caller& caller) noexcept;
// `dest` may be `source`. The type and the operator go together, and the bytes are a multiple of the element's.
RequestId begin_reduction(Team& team, const Caller& caller, const Buffers& buffers, const Operator& op) noexcept;

// The root's `source` goes to all members' `dest`, its own included. Others need no source.
RequestId begin_broadcast(Team& team, const Caller& caller, const Buffers& buffers, int root) noexcept;
// `bytes`: of a block.
RequestId begin_fcollect(Team& team, const Caller& caller, const Buffers& buffers) noexcept;
RequestId begin_alltoall(Team& team, const Caller& caller, const Buffers& buffers) noexcept;
RequestId begin_alltoallv(Team& team, const AlltoallV& arguments) noexcept;

// Returns how many requests of a team's collectives are not completed by the program yet.
std::size_t open_requests_of(const Team& team) noexcept;
// Returns how many of all teams' are not.
std::size_t open_requests() noexcept;

}  // namespace shmemx::coll::background
