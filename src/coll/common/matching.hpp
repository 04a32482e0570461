// Do all members of a team make the same calls? Each keeps a digest of its calls, which goes with the flags that
// members set and the counters at which they meet. Calls that never meet there are found by what PEs say of their waits
// in their records (runtime/matching.hpp).
#pragma once

#include <cstdint>

#include "coll/common/team.hpp"
#include "progress/wait.hpp"

namespace shmemx::coll {

// Every collective begins with one of these, on all members. `site`: where the call returns to.
inline void begin_call(Team& team, CallWord call) noexcept {
  team.calls.latest = call;
  team.calls.digest = digest_after(team.calls.digest, call);
}
inline constinit std::atomic<const Team*> latest_passed = nullptr;  // the team of the latest such call, for diagnostics
inline void begin_passed_call(Team& team, CallWord call, const char* routine, const void* site) noexcept {
  begin_call(team, call);
  team.calls.passed = {team.epoch + 1, call, team.calls.digest, routine, site};
  latest_passed.store(&team, std::memory_order_relaxed);  // for people
}

// SHMEM_CHECK: all members name the same `dest`. Called before the call of this collective begins.
void note_dest(Team& team, const void* dest) noexcept;
// Returns the dest of the call that has led to `digest`; 0: it has none, or it is not known any more.
SymmetricName dest_of(const Calls& calls, std::uint64_t digest, CallWord call) noexcept;

// What goes with a flag. The low bits tell the epoch, since a tag may be newer than the epoch that is seen.
inline std::uint64_t tag_of(const Team& team, std::uint64_t epoch) noexcept { return team.calls.digest + epoch; }

// A member has seen the tag of another call, or has met others whose digests differ from its own one.
struct Mismatch {
  const Team& team;
  const char* routine;
  int pe;                // of the team; -1: some other member
  std::uint64_t epoch;   // of `pe`
  std::uint64_t digest;  // of the calls of `pe`
};
// Ends the job; set by runtime.
using MismatchHook = void (*)(const Mismatch&) noexcept;
inline constinit MismatchHook on_mismatch = nullptr;

[[gnu::cold, gnu::noinline]] void report_mismatch(const Team& team, const char* routine) noexcept;
// The tag of a flag that `pe` has set is not that of this PE at `epoch`. Nothing is wrong if `pe` is ahead.
[[gnu::cold, gnu::noinline]] void look_at_tag(const Team& team, const char* routine, int pe, const MemberFlag& flag,
                                              std::uint64_t epoch) noexcept;

// Looks at the tags of all flags that this PE has got at the latest epoch of the team, in whose collective it waits.
// Some of them it does not wait for, such as that of a broadcast that it has not entered.
[[gnu::cold]] void look_at_tags(const Team& team, const char* routine) noexcept;

// The team in whose collective this thread waits for other members; null: none.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local const Team* awaited_team = nullptr;
class AwaitingTeam {
 public:
  explicit AwaitingTeam(const Team& team) noexcept { awaited_team = &team; }
  ~AwaitingTeam() { awaited_team = nullptr; }
  AwaitingTeam(const AwaitingTeam&) = delete;
  AwaitingTeam& operator=(const AwaitingTeam&) = delete;
};

// progress::wait_for_store() within a collective. `pe`: of the world.
template <class Done>
inline void wait_for_member(const Team& team, const char* routine, int pe, Done done) noexcept {
  if (progress::poll_store(done)) return;
  const AwaitingTeam awaiting(team);
  progress::wait_for_store_slow(routine, pe, done);
}

}  // namespace shmemx::coll
