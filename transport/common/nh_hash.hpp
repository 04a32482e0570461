// NH over GF(2), the universal hash of CLHASH (Lemire and Kaser): a sum of carry-less products of 64-bit words, each
// combined with a word of a key that is as long as the longest content. Two contents of one length collide with a
// probability of 2^-64 for whoever does not know the key. The sum becomes a proof only by a keyed hash of it
// (keyed_hash.hpp). Both together cost less than a tenth of what SipHash of the whole content would; see decision 0058.
#pragma once

#include <cstdint>
#include <vector>

#include "transport/common/authentication.hpp"
#include "transport/common/nh_kernels.hpp"

namespace shmemx::transport {

class NhHash {
 public:
  using Digest = NhDigest;

  // `most_bytes`: of the longest content, and of what it is behind (`position`).
  NhHash(const std::uint64_t (&secret)[2], Purpose purpose, std::size_t most_bytes);

  // Returns the sum for a content that begins at `position`, a multiple of 16, of what is hashed. The last bytes are
  // padded with zeros, so the length must be part of the proof.
  Digest digest(Bytes content, std::size_t position = 0) const noexcept;
  // Returns the sum of two parts.
  static Digest sum(const Digest& a, const Digest& b) noexcept { return {a.low ^ b.low, a.high ^ b.high}; }

 private:
  NhKernel kernel_;
  std::vector<std::uint64_t> key_;
};

}  // namespace shmemx::transport
