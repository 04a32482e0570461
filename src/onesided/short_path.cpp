#include "onesided/short_path.hpp"

namespace shmemx::onesided {

[[gnu::cold]] ShortGet end_lane_get(ShortGet begun) noexcept {
  am::poll();
  return begun;
}

[[gnu::cold]] ShortGet end_common_get(ShortGet begun, bool is_poll_due) noexcept {
  if (begun == ShortGet::open) ++direct_awaited;
  if (is_poll_due) am::Locked::held().poll();
  return begun;
}

void open_direct(context::Context& entry) noexcept {
  const std::uint32_t index = index_of(entry);
  entry.direct_open = &direct_open[index];
  std::uint32_t used = used_entries.load(std::memory_order_relaxed);
  while (used <= index && !used_entries.compare_exchange_weak(used, index + 1, std::memory_order_relaxed)) {
  }
}

}  // namespace shmemx::onesided
