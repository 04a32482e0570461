#include "transport/common/authentication.hpp"

#include <algorithm>
#include <array>

#include "transport/common/keyed_hash.hpp"

namespace shmemx::transport {

std::uint64_t prove(const std::uint64_t (&secret)[2], Purpose purpose, std::span<const std::uint64_t> words) noexcept {
  std::array<std::uint64_t, kMaxProofWords + 1> input;
  const std::size_t n = std::min(words.size(), kMaxProofWords);
  input[0] = static_cast<std::uint64_t>(purpose);
  std::copy_n(words.begin(), n, input.begin() + 1);
  return keyed_hash(secret, std::span(input).first(n + 1));
}

}  // namespace shmemx::transport
