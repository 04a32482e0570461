// What shows that a message comes from a PE of this job: a keyed hash of who sends to whom.
#pragma once

#include <cstdint>

#include "transport/keyed_hash.hpp"

namespace shmemx::ucx {

inline std::uint64_t proof_of(const std::uint64_t (&secret)[2], int source, int target) noexcept {
  constexpr std::uint64_t kDomain = 0x7563782d70726f66;  // so that other users of the secret get other values
  const std::uint64_t words[] = {kDomain, static_cast<std::uint64_t>(static_cast<std::uint32_t>(source)) << 32 |
                                              static_cast<std::uint32_t>(target)};
  return transport::keyed_hash(secret, words);
}

}  // namespace shmemx::ucx
