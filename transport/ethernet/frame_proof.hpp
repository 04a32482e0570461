// The keyed hash of a frame: its value proves that the sender knows the job's secret and that no bit has changed.
// Header and content are hashed by NH (common/nh_hash.hpp); SipHash of the sum is the proof.
#pragma once

#include "transport/common/nh_hash.hpp"
#include "transport/ethernet/frame.hpp"

namespace shmemx::ethernet {

class FrameProof {
 public:
  using Digest = transport::NhHash::Digest;

  // `most_bytes`: of the longest content.
  FrameProof(const std::uint64_t (&secret)[2], std::size_t most_bytes);

  // Returns the NH of a content of at most `most_bytes`, in one or two pieces. The first one of two is a multiple of 16
  // bytes long.
  Digest digest(Bytes content, Bytes rest = {}) const noexcept;
  // Returns the proof for a header, whose member `proof` is 0, and its content.
  std::uint64_t prove(const FrameHeader& header, const Digest& content) const noexcept;

 private:
  std::uint64_t secret_[2];
  transport::NhHash hash_;
};

}  // namespace shmemx::ethernet
