#include "transport/common/nh_hash.hpp"

#include <cstring>

namespace shmemx::transport {
namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
constexpr std::size_t kStep = 2 * kWordBytes;

}  // namespace

NhHash::NhHash(const std::uint64_t (&secret)[2], Purpose purpose, std::size_t most_bytes)
    : kernel_(nh_kernels().back()) {
  const std::size_t words = (most_bytes + kStep - 1) / kStep * 2;
  key_.reserve(words);
  for (std::uint64_t i = 0; i < words; ++i) key_.push_back(prove(secret, purpose, {&i, 1}));
}

NhHash::Digest NhHash::digest(Bytes content, std::size_t position) const noexcept {
  const std::uint64_t* const key = key_.data() + position / kWordBytes;
  const std::size_t steps = content.size() / kStep;
  const Digest whole = kernel_.sum(content.data(), key, steps);
  const Bytes rest = content.subspan(steps * kStep);
  if (rest.empty()) return whole;
  std::byte last[kStep] = {};
  std::memcpy(last, rest.data(), rest.size());
  return sum(whole, kernel_.sum(last, key + 2 * steps, 1));
}

}  // namespace shmemx::transport
