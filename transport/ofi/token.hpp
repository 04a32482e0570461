// What proves to one PE that a packet is of a certain other PE of the job: a keyed hash of the pair, the job's secret
// being the key.
#pragma once

#include <cstdint>

#include "transport/keyed_hash.hpp"

namespace shmemx::ofi {

inline std::uint64_t pair_token(const std::uint64_t (&secret)[2], int source, int target) noexcept {
  const std::uint64_t words[] = {static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(target)};
  return transport::keyed_hash(secret, words);
}

}  // namespace shmemx::ofi
