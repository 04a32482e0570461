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

PairProofs::PairProofs(const Setup& setup) noexcept : secret_{setup.secret[0], setup.secret[1]}, me_(setup.me) {}

std::uint64_t PairProofs::of_pair(int source, int target) const noexcept {
  const std::uint64_t words[] = {static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(target)};
  return prove(secret_, Purpose::pair, words);
}

std::uint64_t PairProofs::outgoing(int pe) const noexcept { return of_pair(me_, pe); }

std::uint64_t PairProofs::incoming(int pe) const noexcept { return of_pair(pe, me_); }

}  // namespace shmemx::transport
