#include "transport/ethernet/frame_proof.hpp"

#include <cstring>

#include "transport/common/authentication.hpp"
#include "transport/common/keyed_hash.hpp"

namespace shmemx::ethernet {
namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr std::size_t kStep = 2 * sizeof(std::uint64_t);

Wide product(const std::uint64_t (&words)[2], const std::uint64_t* key) noexcept {
  return static_cast<Wide>(words[0] + key[0]) * (words[1] + key[1]);
}

}  // namespace

FrameProof::FrameProof(const std::uint64_t (&secret)[2], std::size_t most_bytes) : secret_{secret[0], secret[1]} {
  const std::size_t words = (most_bytes + kStep - 1) / kStep * 2;
  for (std::uint64_t i = 0; i < words; ++i)
    key_.push_back(transport::prove(secret_, transport::Purpose::frame, {&i, 1}));
}

FrameProof::Digest FrameProof::digest(Bytes body) const noexcept {
  const std::uint64_t* key = key_.data();
  const std::byte* at = body.data();
  std::size_t left = body.size();
  Wide sum = 0;
  std::uint64_t words[2];
  for (; left >= kStep; left -= kStep, at += kStep, key += 2) {
    std::memcpy(words, at, kStep);
    sum += product(words, key);
  }
  if (left != 0) {
    words[0] = words[1] = 0;
    std::memcpy(words, at, left);
    sum += product(words, key);
  }
  return {static_cast<std::uint64_t>(sum), static_cast<std::uint64_t>(sum >> 64)};
}

std::uint64_t FrameProof::prove(const FrameHeader& header, const Digest& body) const noexcept {
  constexpr std::size_t kHeaderWords = offsetof(FrameHeader, proof) / sizeof(std::uint64_t);
  std::uint64_t words[kHeaderWords + 2];
  std::memcpy(words, &header, kHeaderWords * sizeof(std::uint64_t));
  words[kHeaderWords] = body.low;
  words[kHeaderWords + 1] = body.high;
  return transport::keyed_hash(secret_, words);
}

}  // namespace shmemx::ethernet
