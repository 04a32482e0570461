#include "transport/ethernet/frame_proof.hpp"

#include <cstring>

#include "transport/common/authentication.hpp"
#include "transport/common/keyed_hash.hpp"

namespace shmemx::ethernet {
namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
constexpr std::size_t kStep = 2 * kWordBytes;
// The header without its proof, padded by a zero.
constexpr std::size_t kHeaderWords = sizeof(FrameHeader) / kWordBytes;
static_assert(offsetof(FrameHeader, proof) == (kHeaderWords - 1) * kWordBytes);

Wide product(const std::byte* at, const std::uint64_t* key) noexcept {
  std::uint64_t words[2];
  std::memcpy(words, at, kStep);
  return static_cast<Wide>(words[0] + key[0]) * (words[1] + key[1]);
}

}  // namespace

FrameProof::FrameProof(const std::uint64_t (&secret)[2], std::size_t most_bytes) : secret_{secret[0], secret[1]} {
  const std::size_t words = kHeaderWords + (most_bytes + kStep - 1) / kStep * 2;
  for (std::uint64_t i = 0; i < words; ++i)
    key_.push_back(transport::prove(secret_, transport::Purpose::frame, {&i, 1}));
}

FrameProof::Digest FrameProof::digest(Bytes content) const noexcept {
  const std::uint64_t* key = key_.data() + kHeaderWords;
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
  const Wide sum = sums[0] + sums[1];
  return {static_cast<std::uint64_t>(sum), static_cast<std::uint64_t>(sum >> 64)};
}

// The header tells how long the content is.
std::uint64_t FrameProof::prove(const FrameHeader& header, const Digest& content) const noexcept {
  FrameHeader input = header;
  input.proof = 0;
  const auto* const bytes = reinterpret_cast<const std::byte*>(&input);
  Wide sum = static_cast<Wide>(content.high) << 64 | content.low;
  for (std::size_t word = 0; word < kHeaderWords; word += 2) sum += product(bytes + word * kWordBytes, &key_[word]);
  const std::uint64_t words[] = {static_cast<std::uint64_t>(sum), static_cast<std::uint64_t>(sum >> 64)};
  return transport::keyed_hash(secret_, words);
}

}  // namespace shmemx::ethernet
