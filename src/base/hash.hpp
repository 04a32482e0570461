// FNV-1a: digests that PEs compare, of words or of bytes. No protection against forgery; see
// transport/common/keyed_hash.hpp for that.
#pragma once

#include <cstdint>
#include <string_view>

namespace shmemx {

class Fnv1a {
 public:
  constexpr void add(std::uint64_t word) noexcept { digest_ = (digest_ ^ word) * 0x100000001b3U; }
  constexpr std::uint64_t digest() const noexcept { return digest_; }

 private:
  std::uint64_t digest_ = 0xcbf29ce484222325U;
};

constexpr std::uint64_t fnv1a(std::string_view bytes) noexcept {
  Fnv1a hash;
  for (const char c : bytes) hash.add(static_cast<unsigned char>(c));
  return hash.digest();
}

}  // namespace shmemx
