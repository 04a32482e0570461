#include "interpose/recent_targets.hpp"

#include <limits>

#include "interpose/below.hpp"
#include "interpose/devices.hpp"
#include "interpose/direct.hpp"
#include "interpose/layout.hpp"
#include "interpose/window.hpp"

namespace shmemx::interpose {
namespace {

constexpr unsigned kMissesForAPlace = 8;

bool fits(const Offer& offer, const Items& items) noexcept {
  const std::size_t item = items.layout->plain_bytes;
  return offer.disp_unit > 0 && offer.disp_unit <= std::numeric_limits<std::uint16_t>::max() && item != 0 &&
         item <= kMostRecentBytes && items.count > 0 &&
         static_cast<std::size_t>(items.count) <= kMostRecentBytes / item &&
         item * static_cast<std::size_t>(items.count) <= offer.bytes;
}

// Returns whether the place is to be used for another target or datatype.
bool gets_place(const RecentTarget& kept) noexcept {
  static unsigned misses = 0;
  return kept.generation == 0 || ++misses % kMissesForAPlace == 0;
}

}  // namespace

void keep_recent_target_slow(const Window& window, int rank, const Items& items) noexcept {
  RecentTarget& kept = recent_target(rank);
  const Target& target = window.targets[static_cast<std::size_t>(rank)];
  if (has_devices || has_tools) return;
  if (kept.win != window.handle || kept.rank != rank || kept.type != items.type || kept.count != items.count) {
    if (!fits(target.offer, items) || !gets_place(kept)) return;
    const auto disp_unit = static_cast<std::uint64_t>(target.offer.disp_unit);
    kept.win = window.handle;
    kept.rank = rank;
    kept.count = items.count;
    kept.type = items.type;
    kept.bytes = static_cast<std::uint32_t>(items.layout->plain_bytes * static_cast<std::size_t>(items.count));
    kept.last_disp = (target.offer.bytes - kept.bytes) / disp_unit;
    kept.disp_unit = static_cast<std::uint16_t>(disp_unit);
    kept.update_bytes = items.count == 1 ? update_bytes_of(window, *items.layout) : std::uint8_t{0};
    kept.mapped = target.mapped;
  }
  kept.is_locked = is_locked(window, target);
  kept.generation = recent_generation;
}

void forget_recent_targets() noexcept {
  if (!many_threads) recent_targets = {};
}

}  // namespace shmemx::interpose
