#include "coll/common/flags.hpp"

#include "am/endpoint.hpp"
#include "coll/common/matching.hpp"

namespace shmemx::coll {

void await_flag(const Team& team, const char* routine, int pe, std::uint64_t epoch) noexcept {
  const bool is_mapped = context::is_mapped(team.route, pe);
  const MemberFlag& flag = is_mapped ? team.flag(team.me(), pe) : received_flag(team, pe);
  const auto is_set = [&] { return flag.epoch.load(std::memory_order_acquire) >= epoch; };  // arrive
  const int writer = context::world_pe(team.route, pe);
  if (is_mapped) [[likely]] {
    wait_for_member(team, routine, writer, is_set);
  } else {
    const AwaitingTeam awaiting(team);
    progress::wait_until(routine, writer, is_set);
  }
  if (flag.tag.load(std::memory_order_relaxed) != tag_of(team, epoch)) [[unlikely]]
    look_at_tag(team, routine, pe, flag, epoch);
}

}  // namespace shmemx::coll
