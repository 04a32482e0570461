// The keyed hash of a frame: its value proves that the sender knows the job's secret and that no bit has changed.
//
// Header and content are hashed by NH, as in UMAC and VMAC: sums of products of 64-bit words, each with a word of a key
// that is as long as the longest frame. Two frames collide with a probability of 2^-64 for whoever does not know the
// key. SipHash of the sum is the proof. NH costs a tenth of what SipHash of the whole frame would.
#pragma once

#include <vector>

#include "transport/ethernet/frame.hpp"

namespace shmemx::ethernet {

class FrameProof {
 public:
  // `most_bytes`: of the longest content.
  FrameProof(const std::uint64_t (&secret)[2], std::size_t most_bytes);

  struct Digest {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
  };
  // Returns the NH of a content of at most `most_bytes`.
  Digest digest(Bytes content) const noexcept;
  // Returns the proof for a header, whatever its member `proof` is, and its content.
  std::uint64_t prove(const FrameHeader& header, const Digest& content) const noexcept;

 private:
  std::uint64_t secret_[2];
  std::vector<std::uint64_t> key_;
};

}  // namespace shmemx::ethernet
