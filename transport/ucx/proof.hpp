// What shows that a message comes from a PE of this job: a keyed hash (SipHash-2-4) of who sends to whom.
#pragma once

#include <cstdint>

namespace shmemx::transport::ucx {

std::uint64_t proof_of(const std::uint64_t secret[2], int source, int target) noexcept;

}  // namespace shmemx::transport::ucx
