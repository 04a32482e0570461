// What proves to one PE that a packet is of a certain other PE of the job: a keyed hash (SipHash-2-4) of the pair, the
// job's secret being the key. The secret itself never travels.
#pragma once

#include <cstdint>

namespace shmemx::transport::ofi {

std::uint64_t keyed_hash(const std::uint64_t (&secret)[2], std::uint64_t first, std::uint64_t second) noexcept;

inline std::uint64_t pair_token(const std::uint64_t (&secret)[2], int source, int target) noexcept {
  return keyed_hash(secret, static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(target));
}

}  // namespace shmemx::transport::ofi
