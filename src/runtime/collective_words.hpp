// What a PE says in the arena of the collective that it waits in (bootstrap::CollectiveWait), and reading that of
// others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "bootstrap/wire.hpp"
#include "coll/common/team.hpp"

namespace shmemx::runtime {

// A team as all of its members name it.
struct TeamName {
  std::uint64_t index_and_size = 0;
  std::uint64_t start_and_stride = 0;

  bool operator==(const TeamName&) const = default;
  std::size_t index() const { return index_and_size & 0xffffffffU; }
  int size() const { return static_cast<int>(index_and_size >> 32); }
};

struct SaidCall {
  TeamName team;
  std::uint64_t epoch = 0;
  coll::CallWord call = 0;
  std::uint64_t digest = 0;

  bool is_in_finalize() const { return team.index() == coll::kEndTeam; }
};

// A collective that the PE may have left before others, and where it was called.
struct SaidPassed : SaidCall {
  std::string routine;
  std::uintptr_t site = 0;

  std::uint64_t before() const { return coll::digest_before(digest, call); }
};

// What a PE says of the collective that it waits in. Another PE's one may change meanwhile.
struct Said : SaidCall {
  int pe = 0;
  std::uint64_t turn = 0;
  std::uint64_t before = 0;  // the digest before the call; in finalize that of the collectives of all PEs
  SaidPassed passed;

  // Of `team`, or if that is finalize's, of all PEs.
  bool has_passed_on(const TeamName& of) const {
    const std::size_t index = of.index() == coll::kEndTeam ? coll::kWorldTeam : of.index();
    return passed.epoch != 0 && passed.team.index() == index && passed.team.size() == of.size() &&
           passed.team.start_and_stride == of.start_and_stride;
  }
};

TeamName name_of(const coll::Team& team);

// What PE `pe`, this one, has to say; `own`: where it says it.
Said own_calls(const coll::Team& team, int pe, const bootstrap::CollectiveWait& own);
// The latest call of the team, as people are shown it.
bootstrap::Awaited awaited_call(const coll::Team& team);
void publish(const Said& said, bootstrap::CollectiveWait& own);
void forget_lacking(bootstrap::CollectiveWait& own);

// Returns nothing if the PE waits in no collective.
std::optional<Said> said_in(const bootstrap::CollectiveWait& wait, int pe);

}  // namespace shmemx::runtime
