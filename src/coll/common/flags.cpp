#include "coll/common/flags.hpp"

#include "am/endpoint.hpp"
#include "progress/wait.hpp"

namespace shmemx::coll {

void await_flag(const Team& team, const char* routine, int pe, std::uint64_t epoch) noexcept {
  const Flag& flag = team.flag(team.me(), pe);
  const auto is_set = [&] { return flag.epoch.load(std::memory_order_acquire) >= epoch; };  // arrive
  const int writer = context::world_pe(team.route, pe);
  if (!context::is_mapped(team.route, pe)) [[unlikely]]
    return progress::wait_until(routine, writer, is_set);
  progress::wait_for_store(routine, writer, is_set);
}

context::Place flag_place(const Team& team, int pe) noexcept {
  const std::size_t offset =
      team.route.team_index * node_slots.bytes + sizeof(Flag) * static_cast<std::size_t>(team.me());
  return {context::world_pe(team.route, pe), windows::kSlotsWindow, offset};
}

}  // namespace shmemx::coll
