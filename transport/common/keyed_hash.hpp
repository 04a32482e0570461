// SipHash-2-4 of 64-bit words. Its value proves that its maker knows the key; the key itself never travels.
#pragma once

#include <cstdint>
#include <span>

namespace shmemx::transport {

std::uint64_t keyed_hash(const std::uint64_t (&key)[2], std::span<const std::uint64_t> words) noexcept;

}  // namespace shmemx::transport
