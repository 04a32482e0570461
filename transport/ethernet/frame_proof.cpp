#include "transport/ethernet/frame_proof.hpp"

#include <cstddef>

#include "transport/common/keyed_hash.hpp"

namespace shmemx::ethernet {

// The content is hashed behind the header.
static_assert(sizeof(FrameHeader) % 16 == 0);
static_assert(offsetof(FrameHeader, proof) == sizeof(FrameHeader) - sizeof(std::uint64_t));

FrameProof::FrameProof(const std::uint64_t (&secret)[2], std::size_t most_bytes)
    : secret_{secret[0], secret[1]}, hash_(secret, transport::Purpose::frame, sizeof(FrameHeader) + most_bytes) {}

FrameProof::Digest FrameProof::digest(Bytes content, Bytes rest) const noexcept {
  const Digest first = hash_.digest(content, sizeof(FrameHeader));
  if (rest.empty()) return first;
  return transport::NhHash::sum(first, hash_.digest(rest, sizeof(FrameHeader) + content.size()));
}

// The header tells how long the content is.
std::uint64_t FrameProof::prove(const FrameHeader& header, const Digest& content) const noexcept {
  const Digest sum = transport::NhHash::sum(hash_.digest(std::as_bytes(std::span(&header, 1))), content);
  const std::uint64_t words[] = {sum.low, sum.high};
  return transport::keyed_hash(secret_, words);
}

}  // namespace shmemx::ethernet
