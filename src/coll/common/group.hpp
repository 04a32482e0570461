// What collectives need of a team: size, own number, addresses in the members' memory, a barrier, and an exchange of
// small contributions. active_set/group.hpp offers the same for an active set.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/bulk_copy.hpp"
#include "coll/barrier.hpp"
#include "coll/common/matching.hpp"
#include "coll/common/symmetric.hpp"
#include "coll/common/team.hpp"

namespace shmemx::coll {

class TeamGroup {
 public:
  static constexpr bool kHasScratch = true;

  // `advice`: what a diagnostic about a member in another routine ends with.
  TeamGroup(Team& team, const char* routine, const char* advice = "")
      : team_(team), routine_(routine), advice_(advice) {}
  int size() const noexcept { return team_.size(); }
  int me() const noexcept { return team_.me(); }
  const char* routine() const noexcept { return routine_; }
  const char* advice() const noexcept { return advice_; }
  Team& team() const noexcept { return team_; }
  const context::Context& route() const noexcept { return team_.route; }
  bool is_direct() const noexcept { return team_.direct; }

  // Every collective begins with this. begin_passed(): one in which members that are done do not wait for others.
  void begin(CallWord call) noexcept { begin_call(team_, call); }
  void begin_passed(CallWord call, const void* site) noexcept { begin_passed_call(team_, call, routine_, site); }

  void note_dest(const void* dest) noexcept { coll::note_dest(team_, dest); }

  void sync() noexcept { barrier(team_, routine_); }

  // An exchange is publish(), sync(), then published() of all members. The two areas alternate: a PE that publishes
  // again has passed a barrier that each member enters after reading, so no second barrier is needed. At most
  // kScratchBytes. In direct groups.
  void publish(const void* data, std::size_t bytes) noexcept {
    copy_block(team_.scratch(team_.me(), ++team_.exchanges & 1), data, bytes);
  }
  const std::byte* published(int pe) const noexcept { return team_.scratch(pe, team_.exchanges & 1); }
  void publish_word(std::uint64_t word) noexcept { publish(&word, sizeof word); }
  std::uint64_t published_word(int pe) const noexcept {
    std::uint64_t word;
    std::memcpy(&word, published(pe), sizeof word);
    return word;
  }
  void retract_word() noexcept {}  // an active set's word has to be cleared

 private:
  Team& team_;
  const char* routine_;
  const char* advice_;
};

}  // namespace shmemx::coll
