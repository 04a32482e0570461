#include "transport/common/nh_hash.hpp"

#include <cstring>

namespace shmemx::transport {
namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
constexpr std::size_t kStep = 2 * kWordBytes;

Wide product(const std::byte* at, const std::uint64_t* key) noexcept {
  std::uint64_t words[2];
  std::memcpy(words, at, kStep);
  return static_cast<Wide>(words[0] + key[0]) * (words[1] + key[1]);
}

Wide wide(const NhHash::Digest& digest) noexcept { return static_cast<Wide>(digest.high) << 64 | digest.low; }

NhHash::Digest halves(Wide sum) noexcept {
  return {static_cast<std::uint64_t>(sum), static_cast<std::uint64_t>(sum >> 64)};
}

}  // namespace

NhHash::NhHash(const std::uint64_t (&secret)[2], Purpose purpose, std::size_t most_bytes) {
  const std::size_t words = (most_bytes + kStep - 1) / kStep * 2;
  key_.reserve(words);
  for (std::uint64_t i = 0; i < words; ++i) key_.push_back(prove(secret, purpose, {&i, 1}));
}

NhHash::Digest NhHash::digest(Bytes content, std::size_t position) const noexcept {
  const std::uint64_t* key = key_.data() + position / kWordBytes;
  const std::byte* at = content.data();
  std::size_t left = content.size();
  Wide sums[2] = {0, 0};  // two chains of additions run side by side
  for (; left >= 4 * kStep; left -= 4 * kStep, at += 4 * kStep, key += 8) {
    sums[0] += product(at, key);
    sums[1] += product(at + kStep, key + 2);
    sums[0] += product(at + 2 * kStep, key + 4);
    sums[1] += product(at + 3 * kStep, key + 6);
  }
  for (; left >= kStep; left -= kStep, at += kStep, key += 2) sums[0] += product(at, key);
  if (left != 0) {
    std::byte last[kStep] = {};
    std::memcpy(last, at, left);
    sums[1] += product(last, key);
  }
  return halves(sums[0] + sums[1]);
}

NhHash::Digest NhHash::sum(const Digest& a, const Digest& b) noexcept { return halves(wide(a) + wide(b)); }

}  // namespace shmemx::transport
