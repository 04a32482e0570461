#include "coll/common/flags.hpp"

#include "am/endpoint.hpp"
#include "progress/wait.hpp"

namespace shmemx::coll {

void await_flag(const Team& team, const char* routine, int pe, std::uint64_t epoch) noexcept {
  const bool is_mapped = context::is_mapped(team.route, pe);
  const std::atomic<std::uint64_t>& flag = is_mapped ? team.flag(team.me(), pe).epoch : received_flag(team, pe);
  const auto is_set = [&] { return flag.load(std::memory_order_acquire) >= epoch; };  // arrive
  const int writer = context::world_pe(team.route, pe);
  if (!is_mapped) [[unlikely]]
    return progress::wait_until(routine, writer, is_set);
  progress::wait_for_store(routine, writer, is_set);
}

}  // namespace shmemx::coll
