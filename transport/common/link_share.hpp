// How two links to one machine share long payloads, on each network that uses two: each takes what its speed is of
// both.
#pragma once

#include <cstddef>

namespace shmemx::transport {

inline constexpr std::size_t kSplitBytes = std::size_t{256} << 10;  // payloads from here on use both

// Returns the average of measurements, the last ones counting most. `before`: the average so far, not above 0 if there
// is none.
constexpr double averaged(double before, double sample) noexcept {
  return before > 0 ? (3 * before + sample) / 4 : sample;
}

// Returns whether a link with that share of both speeds is so slow that it is left alone.
constexpr bool is_much_slower(double share) noexcept {
  constexpr double kMuchSlower = 4;
  return share * (kMuchSlower + 1) <= 1;
}

}  // namespace shmemx::transport
