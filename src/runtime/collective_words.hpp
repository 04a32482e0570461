// What a PE says in the arena of the collective that it waits in (bootstrap::CollectiveWait), and reading that of
// others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "bootstrap/wire.hpp"
#include "coll/active_set/teams.hpp"
#include "coll/background/begin.hpp"
#include "coll/common/team.hpp"

namespace shmemx::runtime {

// A team as all of its members name it.
struct TeamName {
  std::uint64_t index_and_size = 0;
  std::uint64_t start_and_stride = 0;

  bool operator==(const TeamName&) const = default;
  std::size_t index() const { return index_and_size & 0xffffffffU; }
  int size() const { return static_cast<int>(index_and_size >> 32); }
  int start() const { return static_cast<int>(static_cast<std::uint32_t>(start_and_stride)); }
  int stride() const { return static_cast<int>(start_and_stride >> 32); }
  team::PeSet set() const { return {Pe{start()}, stride(), size()}; }
};
// In place of an index: an active set that has no team yet.
inline constexpr std::uint32_t kNewSet = 0xffffffff;
// The same of a PE that waits for something else, and says which collective it has passed.
inline constexpr std::uint32_t kNoTeam = 0xfffffffe;

struct SaidCall {
  TeamName team;
  std::uint64_t epoch = 0;  // in the background: its number among those of the team, from 1 on
  coll::CallWord call = 0;  // of a new active set: its pSync, a SymmetricName
  std::uint64_t digest = 0;
  coll::SymmetricName dest = 0;  // 0: not known

  bool is_in_finalize() const { return team.index() == coll::kEndTeam; }
  bool is_of_none() const { return team.index() == kNoTeam; }
  bool is_of_new_set() const { return team.index() == kNewSet; }
  bool is_in_background() const { return !is_of_new_set() && (call & coll::background::kBackgroundMark) != 0; }
  // The digest before the call.
  std::uint64_t digest_before() const {
    const std::uint64_t before = coll::digest_before(digest, call);
    return dest == 0 ? before : coll::digest_before(before, dest << coll::kKindShift);
  }
};

// A collective that the PE may have left before others, and where it was called.
struct SaidPassed : SaidCall {
  std::string routine;
  std::uintptr_t site = 0;
};

// What a PE says of the collective that it waits in. Another PE's one may change meanwhile.
struct Said : SaidCall {
  int pe = 0;
  std::uint64_t turn = 0;
  std::uint64_t before = 0;     // the digest before the call; in finalize that of the collectives of all PEs
  std::uintptr_t begun_at = 0;  // of a collective in the background: where, 0 if not known
  SaidPassed passed;

  // Of `team`, or if that is finalize's, of all PEs.
  bool has_passed_on(const TeamName& of) const {
    const std::size_t index = of.index() == coll::kEndTeam ? coll::kWorldTeam : of.index();
    return passed.epoch != 0 && passed.team.index() == index && passed.team.size() == of.size() &&
           passed.team.start_and_stride == of.start_and_stride;
  }
};

TeamName name_of(const coll::Team& team);

// What PE `pe`, this one, has to say; `own`: where it says it. Of a collective of a team, of one in the background, and
// of the first one of an active set.
Said own_calls(const coll::Team& team, int pe, const bootstrap::CollectiveWait& own);
Said own_calls(const coll::background::UnderWay& call, int pe, const bootstrap::CollectiveWait& own);
Said own_calls(const coll::ActiveSet& set, int pe, const bootstrap::CollectiveWait& own);
// The same while it waits in no collective; its calls are those of one thread.
Said own_passed(int pe, const bootstrap::CollectiveWait& own);
// The set, as this PE has it.
coll::ActiveSet set_of(const SaidCall& call);
// The latest call of the team, or the one in the background that is awaited, as people are shown it.
bootstrap::Awaited awaited_call(const coll::Team& team);
bootstrap::Awaited awaited_call(const bootstrap::Awaited& operation);
void publish(const Said& said, bootstrap::CollectiveWait& own);
void forget_lacking(bootstrap::CollectiveWait& own);

// Returns nothing if the PE waits in no collective.
std::optional<Said> said_in(const bootstrap::CollectiveWait& wait, int pe);

}  // namespace shmemx::runtime
