#include "coll/common/group.hpp"

#include "am/endpoint.hpp"
#include "base/bulk_copy.hpp"
#include "progress/send.hpp"

namespace shmemx::coll {

// Flushes before the barrier, so that a member that still holds an older contribution afterwards is in another
// collective. Mapped members look into this PE's scratch area.
void TeamGroup::publish_remote(const void* data, std::size_t bytes) noexcept {
  const std::uint64_t parity = ++team_.exchanges & 1;
  if (bytes != 0) copy_block(team_.scratch(me(), parity), data, bytes);
  for (int i = 1; i < size(); ++i) {
    const int pe = me() + i < size() ? me() + i : me() + i - size();
    if (!context::is_mapped(team_.route, pe)) send_contribution(team_, routine_, pe, {data, bytes, parity});
  }
  for (int pe = 0; pe < size(); ++pe) {
    if (!context::is_mapped(team_.route, pe)) progress::flush(routine_, context::world_pe(team_.route, pe));
  }
}

}  // namespace shmemx::coll
