#include "coll/common/flags.hpp"

#include "am/endpoint.hpp"
#include "coll/common/matching.hpp"

namespace shmemx::coll {

namespace {

template <class Wait>
void await_and_compare(const Team& team, const char* routine, int pe, const MemberFlag& flag, std::uint64_t epoch,
                       const Wait& wait) {
  wait([&] { return flag.epoch.load(std::memory_order_acquire) >= epoch; });  // arrive
  if (flag.tag.load(std::memory_order_relaxed) != tag_of(team, epoch)) [[unlikely]]
    look_at_tag(team, routine, pe, flag, epoch);
}

[[gnu::noinline]] void await_store(const Team& team, const char* routine, int pe, std::uint64_t epoch) {
  await_and_compare(team, routine, pe, team.flag(team.me(), pe), epoch, [&](const auto& is_set) {
    wait_for_member(team, routine, context::world_pe(team.route, pe), is_set);
  });
}

[[gnu::noinline]] void await_message(const Team& team, const char* routine, int pe, std::uint64_t epoch) {
  const MemberFlag& of_nodes = latest_node_flag(team);
  await_and_compare(team, routine, pe, received_flag(team, pe), epoch, [&](const auto& is_set) {
    const AwaitingTeam awaiting(team);
    progress::wait_until(routine, context::world_pe(team.route, pe), [&] {
      compare_tag(team, routine, pe, of_nodes, epoch);
      return is_set();
    });
  });
}

}  // namespace

void await_flag(const Team& team, const char* routine, int pe, std::uint64_t epoch) noexcept {
  if (!context::is_mapped(team.route, pe)) [[unlikely]]
    return await_message(team, routine, pe, epoch);
  const MemberFlag& flag = team.flag(team.me(), pe);
  if (flag.tag.load(std::memory_order_acquire) == tag_of(team, epoch)) return;  // arrive
  if (flag.epoch.load(std::memory_order_acquire) > epoch)
    return;  // arrive; its tag is of a later call, and tells nothing
  await_store(team, routine, pe, epoch);
}

}  // namespace shmemx::coll
