// SipHash-2-4 of 64-bit words: a short proof that its maker knows the key.
#pragma once

#include <cstdint>
#include <span>

namespace shmemx::tcp {

struct Secret {
  std::uint64_t words[2];
};

std::uint64_t keyed_hash(const Secret& key, std::span<const std::uint64_t> words) noexcept;

}  // namespace shmemx::tcp
